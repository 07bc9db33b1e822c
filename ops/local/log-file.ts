import { closeSync, existsSync, fstatSync, mkdirSync, openSync, readFileSync, readSync, renameSync } from 'node:fs';
import { dirname } from 'node:path';

/** Opens a log file for a process to write on, and returns its size; undefined without a path. The caller closes it. */
export function openLog(path: string | undefined): { file: number; sizeBytes: number } | undefined {
  if (path === undefined) return undefined;
  mkdirSync(dirname(path), { recursive: true });
  const file = openSync(path, 'a', 0o600);
  return { file, sizeBytes: fstatSync(file).size };
}

const tailBytes = 16_384;

/** The last whole lines of a file; empty if there is no such file. */
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

/** The text of a file after its first bytes; empty if there is no such file. */
export function readFrom(path: string, startBytes: number): string {
  return existsSync(path) ? readFileSync(path).subarray(startBytes).toString('utf8') : '';
}

/** Renames the log of the last run to `<path>.1`, so that a log file has one run only. */
export function rotate(path: string): void {
  if (existsSync(path)) renameSync(path, `${path}.1`);
}
