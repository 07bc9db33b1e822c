import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { memoryFlags } from '../../local/services.ts';

/** Holds 200 MB for a moment, rests, and prints the megabytes of its heap before and after; then whether a workflow's context has `gc`. */
const program = `
  const { setTimeout: delay } = await import('node:timers/promises');
  // On the global object: a local variable that is not read again may be collected before.
  globalThis.held = Array.from({ length: 200 }, () => Array.from({ length: 130_000 }, Math.random));
  const until = performance.now() + 5_500;
  while (performance.now() < until) await new Promise(setImmediate);
  const megabytes = () => Math.round(process.memoryUsage().heapTotal / 1e6);
  const before = megabytes();
  globalThis.held = undefined;
  await delay(11_000);
  const { runInNewContext } = await import('node:vm');
  console.log(JSON.stringify([before, megabytes(), runInNewContext('typeof gc')]));
`;

describe('A process that comes to rest', () => {
  it('gives back the memory of the load before, and leaves no collector to the code of workflows', async () => {
    const { stdout } = await promisify(execFile)(process.execPath, [...memoryFlags, '--input-type=module', '-e', program]);
    const [before, after, collector] = JSON.parse(stdout);
    expect(before).to.be.above(200);
    expect(after / before).to.be.below(0.25);
    expect(collector).to.equal('undefined');
  });
});
