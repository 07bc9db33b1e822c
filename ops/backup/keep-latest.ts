import { OpsError } from '../context.ts';
import { isWhole } from './manifest.ts';
import { isOfFiles } from './part.ts';
import type { Place } from './place.ts';

const pattern = /^sheaf-(\d{4})(\d{2})(\d{2})T(\d{2})(\d{2})(\d{2})Z$/;

/**
 * The name of a new backup by the time of its start: `sheaf-20260122T021500Z`. It sorts after those that are there, also if the clock was
 * set back since.
 */
export async function nameOfBackup(place: Place, now: Date): Promise<string> {
  const latest = (await listBackups(place)).at(-1);
  const after = latest === undefined ? 0 : Date.parse(latest.replace(pattern, '$1-$2-$3T$4:$5:$6Z')) + 1_000;
  return nameBy(new Date(Math.max(now.getTime(), after)));
}

const nameBy = (time: Date) => `sheaf-${time.toISOString().replace(/[-:]|\.\d+/g, '')}`;

/**
 * Deletes what is older than the latest `count` days with a backup in a place: several of one day, such as one at each start of a container,
 * take the room of no earlier day. One that was killed does not count, and goes when it is older than these. Leaves what is not named as
 * {@link nameOfBackup} names it. Returns the names that it has deleted. Throws OpsError if one cannot be deleted.
 */
export async function keepLatest(place: Place, count: number): Promise<string[]> {
  try {
    const names = await listBackups(place);
    const days = new Set<string>();
    for (const name of names) if (await isWhole(place.in(name))) days.add(name.slice(0, 'sheaf-20260122'.length));
    const oldest = [...days].at(-count);
    const old = oldest === undefined ? [] : names.filter((name) => name < oldest);
    for (const name of old) await place.removePlace(name);
    return old;
  } catch (error) {
    if (!isOfFiles(error)) throw error;
    throw new OpsError(`The backup is made, but an old one cannot be deleted: ${error.message}`, { cause: error });
  }
}

async function listBackups(place: Place): Promise<string[]> {
  return (await place.list()).filter((name) => pattern.test(name)).sort();
}
