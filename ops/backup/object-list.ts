import { createInterface } from 'node:readline';
import { z } from 'zod';
import { isObjectKey } from '../../adapters/storage/object-key.ts';
import { OpsError } from '../context.ts';
import type { FilePart } from './manifest.ts';
import { readPart } from './part.ts';
import type { Place } from './place.ts';

/** The list of objects; a line for each document of the snapshot, in the order of their ids. */
export const objectList = 'objects.jsonl';
/** How many objects are copied or compared at once. */
export const parallelObjects = 8;

const entrySchema = z.union([
  z.object({ key: z.string().refine(isObjectKey), bytes: z.int().nonnegative(), sha256: z.hex().length(64) }),
  z.object({ key: z.string().refine(isObjectKey), absent: z.enum(['pending', 'deleted', 'lost']) }),
]);

/** An object with its size and hash, or why a document has none: not uploaded yet, deleted meanwhile, or lost by the store. */
export type ObjectEntry = z.infer<typeof entrySchema>;
export type PresentObject = Extract<ObjectEntry, { sha256: string }>;

/** The file of an object in a backup. */
export const fileOf = ({ key, bytes, sha256 }: PresentObject): FilePart => ({ file: `objects/${key}`, bytes, sha256 });

/** The lines of a part. */
export function readLines(place: Place, part: Pick<FilePart, 'file'>): AsyncIterable<string> {
  return createInterface({ input: readPart(place, part), crlfDelay: Number.POSITIVE_INFINITY });
}

/** The list of objects, one after another. Throws OpsError for a line that is none. */
export async function* readObjectList(place: Place, part: FilePart): AsyncGenerator<ObjectEntry> {
  for await (const line of readLines(place, part)) {
    try {
      yield entrySchema.parse(JSON.parse(line));
    } catch {
      throw new OpsError(`The backup is damaged: ${part.file} has a line that is no object.`);
    }
  }
}
