import { runSequences } from './run-sequences.ts';

const sequences = process.env.TEST_NIGHTLY ? 300 : 20;

describe('Money', () => {
  it(`is as its rules say after every step of ${sequences} random sequences`, async () => {
    const seed = Date.now() % 1_000_000_000;
    const { differences, ...count } = await runSequences({ sequences, seed });
    if (differences.length > 0) throw new Error(`Seed ${seed}\n${differences.join('\n\n')}`);
    console.log(`        ${count.sequences} sequences, ${count.steps} steps, seed ${seed}`);
  }).timeout(600_000);
});
