import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { memoryEnvironment } from '../../../ops/local/services.ts';

/** Frees one large block, by which glibc raises its thresholds; then 200 MB in small pieces, each beside one that stays. Prints the resident megabytes. */
const program = `
  const { setTimeout: delay } = await import('node:timers/promises');
  const resident = () => Math.round(process.memoryUsage.rss() / 1e6);
  const before = resident();
  let held = [new Uint8Array(30_000_000).fill(1)];
  held = [];
  gc();
  const staying = [];
  for (let piece = 0; piece < 200; piece++) {
    held.push(new Uint8Array(1_000_000).fill(1));
    staying.push(new Uint8Array(2_000));
  }
  const full = resident();
  held = [];
  gc();
  await delay(1_000);
  console.log(JSON.stringify([before, full, resident(), staying.length]));
`;

describe('A process that frees large blocks', () => {
  it('gives them back to the machine, after a still larger one too', async function () {
    const { header } = process.report.getReport() as { header: { glibcVersionRuntime?: string } };
    // Elsewhere the allocator is another one, which does not read the variable.
    if (!header.glibcVersionRuntime) this.skip();
    const args = ['--expose-gc', '--input-type=module', '-e', program];
    const { stdout } = await promisify(execFile)(process.execPath, args, { env: { ...process.env, ...memoryEnvironment } });
    const [before, full, after] = JSON.parse(stdout);
    expect(full - before).to.be.above(180);
    expect((after - before) / (full - before)).to.be.below(0.2);
  });
});
