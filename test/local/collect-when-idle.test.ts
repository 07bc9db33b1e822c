import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { memoryFlags } from '../../local/services.ts';

/**
 * Holds 200 MB for a moment, works for so many milliseconds of each hundred after that, and prints the megabytes of its heap before and after;
 * then whether a workflow's context has `gc`.
 */
const program = (workMs: number) => `
  const { setTimeout: delay } = await import('node:timers/promises');
  // On the global object: a local variable that is not read again may be collected before.
  globalThis.held = Array.from({ length: 200 }, () => Array.from({ length: 130_000 }, Math.random));
  const until = performance.now() + 5_500;
  while (performance.now() < until) await new Promise(setImmediate);
  const megabytes = () => Math.round(process.memoryUsage().heapTotal / 1e6);
  const before = megabytes();
  globalThis.held = undefined;
  const work = () => { for (const end = performance.now() + ${workMs}; performance.now() < end; ); };
  for (const end = performance.now() + 11_000; performance.now() < end; await delay(100)) work();
  const { runInNewContext } = await import('node:vm');
  console.log(JSON.stringify([before, megabytes(), runInNewContext('typeof gc')]));
`;

/** V8 names a collection that a program asks for "testing". */
async function measure(workMs: number) {
  const { stdout } = await promisify(execFile)(process.execPath, [
    '--trace-gc',
    ...memoryFlags,
    '--input-type=module',
    '-e',
    program(workMs),
  ]);
  const [before, after, collector] = JSON.parse(/^\[\d+,.*\]$/m.exec(stdout)?.[0] ?? '');
  return { before, after, collector, wasStopped: stdout.includes('testing;') };
}

describe('A process that comes to rest', () => {
  it('gives back the memory of the load before, and leaves no collector to the code of workflows', async () => {
    const { before, after, collector, wasStopped } = await measure(0);
    expect(wasStopped).to.equal(true);
    expect(before).to.be.above(200);
    expect(after / before).to.be.below(0.25);
    expect(collector).to.equal('undefined');
  });

  it('is not stopped for a collection while it still serves a few requests a second', async () => {
    const { wasStopped } = await measure(7);
    expect(wasStopped).to.equal(false);
  });
});
