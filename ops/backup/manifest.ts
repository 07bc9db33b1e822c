import { text } from 'node:stream/consumers';
import { z } from 'zod';
import { OpsError } from '../context.ts';
import type { Place } from './place.ts';

/** The form of a backup that this code writes and reads. */
const format = 1;
const manifestName = 'manifest.json';

const filePart = { file: z.string().regex(/^[\w.-]+(\/[\w.-]+)*$/), bytes: z.int().nonnegative(), sha256: z.hex().length(64) };

const tablePart = z.object({ table: z.string(), columns: z.array(z.string()).min(1), rows: z.int().nonnegative(), ...filePart });

const manifestSchema = z.object({
  format: z.literal(format),
  /** The version of the software that wrote it. */
  version: z.string(),
  /** The deployment that it is of, as the markers of stores name it. */
  deployment: z.string().min(1),
  /** When the snapshot was taken, by the database's clock: nothing that was committed later is in the backup. */
  snapshotAt: z.iso.datetime(),
  finishedAt: z.iso.datetime(),
  /** The migrations that the database had. */
  migrations: z.array(z.string()),
  tables: z.array(tablePart),
  /** Sequences that have given out a number, with the last one. Text, since it may be larger than a number can be. */
  sequences: z.array(z.object({ name: z.string(), lastValue: z.string().regex(/^-?\d+$/) })),
  objects: z.object({
    /** The list of objects: a JSON object for each document, in a line. */
    list: z.object(filePart),
    count: z.int().nonnegative(),
    bytes: z.int().nonnegative(),
    /** Documents of the snapshot that were deleted, with their objects, before these could be copied. */
    deleted: z.int().nonnegative(),
    /** Documents whose object the store had lost. */
    lost: z.int().nonnegative(),
  }),
});

/** The contents of a backup. It is written last: a backup without one is not complete. */
export type Manifest = z.infer<typeof manifestSchema>;
export type TablePart = z.infer<typeof tablePart>;
export type FilePart = Manifest['objects']['list'];

/** Writes the manifest: it is there complete, or not at all. */
export async function writeManifest(place: Place, manifest: Omit<Manifest, 'format'>): Promise<Manifest> {
  const whole = { format, ...manifest } satisfies Manifest;
  async function* lines() {
    yield Buffer.from(`${JSON.stringify(whole, null, 2)}\n`);
  }
  await place.write(manifestName, lines());
  return whole;
}

/** Whether a backup has come to its end. */
export function isWhole(place: Place): Promise<boolean> {
  return place.has(manifestName);
}

/** Reads the manifest of a backup. Throws OpsError if there is none, or it is not one that this code understands. */
export async function readManifest(place: Place): Promise<Manifest> {
  const json = await text(place.read(manifestName)).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'ENOENT' && error.code !== 'ENOTDIR')
      throw new OpsError(`The backup cannot be read: ${error.message}`, { cause: error });
    throw new OpsError(`${place.name} has no ${manifestName}: it is no backup, or one that did not come to its end.`);
  });
  const parsed = manifestSchema.safeParse(parseJson(json));
  if (parsed.success) return parsed.data;
  const where = parsed.error.issues[0]?.path.join('.') || 'it is not JSON';
  throw new OpsError(`The ${manifestName} of ${place.name} is damaged, or of another version of this program (${where}).`);
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
