// `npm run test:properties [-- --sequences N] [--seed N]`: random sequences of what moves money, see docs/testing.md.
// The last line is `N sequences, N steps, N differences, seed N`.
import { stopOwnServices } from '../support/stack.ts';
import { help, type PropertyOptions, parseOptions, UsageError } from './options.ts';
import { runSequences } from './run-sequences.ts';

const usageCode = 2;
const reportEvery = 500;

try {
  const options = parseOptions(process.argv.slice(2));
  if (options.help) console.log(help);
  else process.exitCode = await main(options);
} catch (error) {
  if (!(error instanceof UsageError)) throw error;
  console.error(`${error.message}. See npm run test:properties -- --help`);
  process.exitCode = usageCode;
}

async function main({ sequences, seed = Date.now() % 1_000_000_000 }: PropertyOptions): Promise<number> {
  console.log(`${sequences} sequences with seed ${seed} …`);
  const startedAt = performance.now();
  const onSequence = (done: number) => {
    if (done % reportEvery === 0) console.log(`${done} sequences, ${Math.round((performance.now() - startedAt) / 1_000)} s`);
  };
  try {
    const { differences, ...count } = await runSequences({ sequences, seed, onSequence });
    for (const difference of differences) console.error(`\n${difference}`);
    console.log(`\n${count.sequences} sequences, ${count.steps} steps, ${differences.length} differences, seed ${seed}`);
    return differences.length === 0 ? 0 : 1;
  } finally {
    await stopOwnServices();
  }
}
