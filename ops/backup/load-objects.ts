import { Readable } from 'node:stream';
import type { Storage } from '../../adapters/storage/port.ts';
import { OpsError } from '../context.ts';
import type { Manifest } from './manifest.ts';
import { fileOf, type ObjectEntry, type PresentObject, parallelObjects, readObjectList } from './object-list.ts';
import { digest, readPart, verifyPart } from './part.ts';
import type { Place } from './place.ts';

/** How many objects there were; and how many the store had already. */
export interface LoadedObjects {
  count: number;
  kept: number;
}

/** Compares every object of a backup with its size and hash. Throws OpsError for the first that is missing or damaged. */
export async function verifyObjects(place: Place, manifest: Manifest): Promise<void> {
  const { list, count } = manifest.objects;
  await verifyPart(place, list);
  let seen = 0;
  await forEachObject(place, manifest, async (entry) => {
    await verifyPart(place, fileOf(entry));
    seen++;
  });
  if (seen !== count) throw new OpsError(`The backup is damaged: ${list.file} has ${seen} objects, not ${count} as the manifest says.`);
}

/**
 * Copies the objects of a backup into the store. One that the store has already is kept if it is the same; another one is deleted first if
 * it may be replaced. Throws OpsError if it may not, or if the store does not take an object.
 */
export async function loadObjects(
  { storage, replace }: { storage: Storage; replace: boolean },
  place: Place,
  manifest: Manifest,
  note: (line: string) => void,
): Promise<LoadedObjects> {
  const loaded = { count: 0, kept: 0 };
  await forEachObject(place, manifest, async (entry) => {
    const found = await compare(storage, entry);
    if (found === 'another' && !replace)
      throw new OpsError(`The store has another object as ${entry.key}. Restore into an empty store, or --replace it.`);
    if (found === 'another') await storage.delete(entry.key);
    if (found === 'the same') loaded.kept++;
    else await store(storage, place, entry);
    loaded.count++;
    if (loaded.count % 1_000 === 0) note(`${loaded.count} of ${manifest.objects.count} objects`);
  });
  note(`objects: ${loaded.count}${loaded.kept > 0 ? `, of which the store had ${loaded.kept}` : ''}`);
  return loaded;
}

async function compare(storage: Storage, { key, bytes, sha256 }: PresentObject): Promise<'none' | 'the same' | 'another'> {
  const found = await storage.read(key);
  if (!found) return 'none';
  const { bytes: size, sha256: hash } = await digest(found);
  return size === bytes && hash === sha256 ? 'the same' : 'another';
}

async function store(storage: Storage, place: Place, entry: PresentObject): Promise<void> {
  try {
    await storage.write(entry.key, readPart(place, fileOf(entry)));
  } catch (error) {
    const reason = String(error instanceof Error ? error.message : error).replace(/\.$/, '');
    throw new OpsError(`The store did not take ${entry.key}: ${reason}. Repair that, and restore again.`, { cause: error });
  }
}

async function forEachObject(place: Place, manifest: Manifest, work: (entry: PresentObject) => Promise<void>): Promise<void> {
  await Readable.from(readObjectList(place, manifest.objects.list)).forEach(
    async (entry: ObjectEntry) => {
      if (!('absent' in entry)) await work(entry);
    },
    { concurrency: parallelObjects },
  );
}
