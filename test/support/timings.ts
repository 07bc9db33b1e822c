import { existsSync, readFileSync, writeFileSync } from 'node:fs';

const path = 'test/timings.json';
/** What a file takes that no run has measured yet. */
const unknownMs = 10_000;

/** Milliseconds of each test file, as the last run took that saved them. They decide only the order and the shards. */
function readTimings(): Record<string, number> {
  return existsSync(path) ? JSON.parse(readFileSync(path, 'utf8')) : {};
}

/** Saves the times of a whole run, in tenths of a second, so that a file that takes as long as before changes nothing. */
export function saveTimings(fileMs: Record<string, number>): void {
  const rounded = Object.entries(fileMs).map(([file, ms]) => [file, Math.ceil(ms / 100) * 100] as const);
  const sorted = Object.fromEntries(rounded.sort(([one], [other]) => (one < other ? -1 : 1)));
  writeFileSync(path, `${JSON.stringify(sorted, undefined, 2)}\n`);
}

/** The files with the longest first: beginning last, they would be what is waited for in the end. */
export function longestFirst(files: string[], timings = readTimings()): string[] {
  const msOf = (file: string) => timings[file] ?? unknownMs;
  return files.toSorted((one, other) => msOf(other) - msOf(one));
}

/** The files of shard `index` of `count`, from 1: each file, the longest first, goes to the shard that has the least to do. */
export function shardOf(files: string[], { index, count }: { index: number; count: number }, timings = readTimings()): string[] {
  const shards = Array.from({ length: count }, () => ({ files: [] as string[], ms: 0 }));
  for (const file of longestFirst(files, timings)) {
    const least = shards.reduce((one, other) => (other.ms < one.ms ? other : one));
    least.files.push(file);
    least.ms += timings[file] ?? unknownMs;
  }
  return shards[index - 1]?.files ?? [];
}
