import { Readable } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';
import type { Storage } from '../../adapters/storage/port.ts';
import { OpsError } from '../context.ts';
import { objectsToCopy } from './dump-database.ts';
import type { Manifest } from './manifest.ts';
import { type ObjectEntry, objectList, parallelObjects, readLines } from './object-list.ts';
import { isOfFiles, writePart } from './part.ts';
import type { Place } from './place.ts';

const attempts = 3;

interface CopyOptions {
  storage: Storage;
  /** Of the backup. */
  place: Place;
  /** Whether the document of an object is there now: then its object should be, too. */
  hasDocument(key: string): Promise<boolean>;
  /** Takes lines of progress. */
  note(line: string): void;
}

/**
 * Copies the objects of a snapshot into the place of a backup, in the order of its list, and writes the list with their sizes and hashes. An object
 * that is not in the store is noted there with the reason. Throws OpsError if the store cannot be read, or has none of the objects.
 */
export async function copyObjects(options: CopyOptions): Promise<Manifest['objects']> {
  const { storage, place, note } = options;
  const total = { count: 0, bytes: 0, deleted: 0, lost: 0 };
  // `map` keeps the order, and no more than so many objects are open.
  const underWay = new Set<Promise<ObjectEntry>>();
  const copy = (line: string) => {
    const copying = copyObject(options, line).finally(() => underWay.delete(copying));
    underWay.add(copying);
    return copying;
  };
  const entries = Readable.from(readLines(place, { file: objectsToCopy })).map(copy, { concurrency: parallelObjects });
  async function* lines() {
    for await (const entry of entries as AsyncIterable<ObjectEntry>) {
      if (!('absent' in entry)) {
        total.count++;
        total.bytes += entry.bytes;
        if (total.count % 1_000 === 0) note(`${total.count} objects, ${total.bytes} bytes`);
      } else if (entry.absent !== 'pending') total[entry.absent]++;
      yield `${JSON.stringify(entry)}\n`;
    }
  }
  // After a failure nothing may write there any more.
  const list = await writePart(place, objectList, lines()).finally(() => Promise.allSettled(underWay));
  if (total.lost > 0 && total.count === 0) {
    throw new OpsError(`The store ${storage.location} has none of the ${total.lost} objects. Is it the store of this database?`);
  }
  await place.remove(objectsToCopy);
  return { list, ...total };
}

async function copyObject({ storage, place, hasDocument }: CopyOptions, line: string): Promise<ObjectEntry> {
  const [key = '', status] = line.split('\t');
  for (let attempt = 1; ; attempt++) {
    try {
      const source = await storage.read(key);
      if (!source) return { key, absent: status === 'pending' ? 'pending' : (await hasDocument(key)) ? 'lost' : 'deleted' };
      const { bytes, sha256 } = await writePart(place, `objects/${key}`, source);
      return { key, bytes, sha256 };
    } catch (error) {
      // The store may have deleted it while it was read: then the next attempt finds none.
      if (attempt >= attempts || isOfFiles(error)) throw uncopied(key, error);
      await delay(attempt * 500);
    }
  }
}

function uncopied(key: string, error: unknown): OpsError {
  return new OpsError(`The object ${key} could not be copied: ${error instanceof Error ? error.message : error}`, { cause: error });
}
