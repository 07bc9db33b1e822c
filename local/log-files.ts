import { closeSync, existsSync, fstatSync, openSync, readFileSync, readSync, renameSync } from 'node:fs';

const tailBytes = 16_384;

/** The last lines of a file, without the ones that are cut off; empty when there is no such file. */
export function readTail(path: string, lines: number): string {
  if (!existsSync(path)) return '';
  const file = openSync(path, 'r');
  try {
    const { size } = fstatSync(file);
    const start = Math.max(0, size - tailBytes);
    const buffer = Buffer.alloc(size - start);
    const read = readSync(file, buffer, 0, buffer.length, start);
    const whole = buffer.toString('utf8', 0, read).trimEnd().split('\n');
    return (start > 0 ? whole.slice(1) : whole).slice(-lines).join('\n');
  } finally {
    closeSync(file);
  }
}

/** What was written to a file after its first bytes; empty when there is no such file. */
export function readFrom(path: string, startBytes: number): string {
  return existsSync(path) ? readFileSync(path).subarray(startBytes).toString('utf8') : '';
}

/** Sets the log of the run before aside as `<path>.1`, so that a log file tells of one run only. */
export function rotate(path: string): void {
  if (existsSync(path)) renameSync(path, `${path}.1`);
}
