import { existsSync, fstatSync, mkdirSync, openSync, readFileSync, renameSync } from 'node:fs';
import { dirname } from 'node:path';

/** Opens a log file for a process to write on, and returns its size; undefined without a path. The caller closes it. */
export function openLog(path: string | undefined): { file: number; sizeBytes: number } | undefined {
  if (path === undefined) return undefined;
  mkdirSync(dirname(path), { recursive: true });
  const file = openSync(path, 'a', 0o600);
  return { file, sizeBytes: fstatSync(file).size };
}

const tailBytes = 16_384;

/** The last lines of a file; empty if there is no such file. */
export function readTail(path: string, lines: number): string {
  return readFrom(path, -tailBytes).trimEnd().split('\n').slice(-lines).join('\n');
}

/** The text of a file from a byte on, counted from its end if it is below 0; empty if there is no such file. */
export function readFrom(path: string, startBytes: number): string {
  return existsSync(path) ? readFileSync(path).subarray(startBytes).toString('utf8') : '';
}

/** Renames the log of the last run to `<path>.1`, so that a log file has one run only. */
export function rotate(path: string): void {
  if (existsSync(path)) renameSync(path, `${path}.1`);
}
