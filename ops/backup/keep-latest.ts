import { readdir, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { OpsError } from '../context.ts';
import { isWhole } from './manifest.ts';

const pattern = /^sheaf-\d{8}T\d{6}Z$/;

/** The name of a backup's directory by the time of its start: `sheaf-20261122T021500Z`. Names sort as the times do. */
export function nameOfBackup(now: Date): string {
  return `sheaf-${now.toISOString().replace(/[-:]|\.\d+/g, '')}`;
}

/**
 * Deletes what is older than the latest `count` backups beside the one at `path`, which is one of them. One that was killed does not count,
 * and goes when it is older than these. Leaves what is not named as {@link nameOfBackup} names it. Returns the paths that it has deleted.
 * Throws OpsError if one cannot be deleted.
 */
export async function keepLatest(path: string, count: number): Promise<string[]> {
  const parent = dirname(path);
  const names = (await readdir(parent)).filter((name) => pattern.test(name)).sort();
  const oldest = names.filter((name) => isWhole(join(parent, name))).at(-count);
  const old = oldest === undefined ? [] : names.filter((name) => name < oldest).map((name) => join(parent, name));
  for (const directory of old) {
    await rm(directory, { recursive: true }).catch((error: Error) => {
      throw new OpsError(`The backup is made, but an old one cannot be deleted: ${error.message}`, { cause: error });
    });
  }
  return old;
}
