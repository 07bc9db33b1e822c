import { appendFile, readFile, truncate } from 'node:fs/promises';
import type { Document } from '../../index.ts';

/** A document that was exported, as a line of the catalog. Paths are within the folder of the export. */
type Exported = Document & { original: string; sha256: string; text: string | null };

/** What an earlier export has noted of a document. */
export type Noted = Pick<Exported, 'original' | 'sha256' | 'text' | 'updatedAt' | 'extracted'>;

/** A line for each document that was exported; of several for one document the last counts. */
export interface Catalog {
  find(id: string): Noted | undefined;
  /** What was noted before, by the ids of documents. */
  entries(): Iterable<[id: string, Noted]>;
  add(exported: Exported): Promise<void>;
}

/** Opens a catalog. A line that was being written when its program was killed is removed. */
export async function openCatalog(path: string): Promise<Catalog> {
  const notes = new Map<string, Noted>();
  const lines = (await readFile(path, 'utf8').catch(noneYet)).split('\n');
  const half = lines.pop();
  for (const line of lines) {
    const { id, original, sha256, text, updatedAt, extracted } = JSON.parse(line) as Exported;
    notes.set(id, { original, sha256, text, updatedAt, extracted });
  }
  if (half) await truncate(path, Buffer.byteLength(lines.map((line) => `${line}\n`).join('')));
  return {
    find: (id) => notes.get(id),
    entries: () => notes.entries(),
    add: (exported) => appendFile(path, `${JSON.stringify(exported)}\n`),
  };
}

function noneYet(error: NodeJS.ErrnoException): string {
  if (error.code === 'ENOENT') return '';
  throw error;
}
