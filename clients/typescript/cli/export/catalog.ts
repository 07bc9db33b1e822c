import { appendFile, readFile, rename, writeFile } from 'node:fs/promises';
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

/** Opens a catalog. Removes lines that were not written whole, since their program was killed or the disk full. */
export async function openCatalog(path: string): Promise<Catalog> {
  const notes = new Map<string, Noted>();
  const written = await readFile(path, 'utf8').catch(noneYet);
  let whole = '';
  for (const line of written.split('\n').slice(0, -1)) {
    const exported = parse(line);
    if (!exported) continue;
    const { id, original, sha256, text, updatedAt, extracted } = exported;
    notes.set(id, { original, sha256, text, updatedAt, extracted });
    whole += `${line}\n`;
  }
  if (whole !== written) {
    await writeFile(`${path}.part`, whole);
    await rename(`${path}.part`, path);
  }
  return {
    find: (id) => notes.get(id),
    entries: () => notes.entries(),
    add: (exported) => appendFile(path, `${JSON.stringify(exported)}\n`),
  };
}

function parse(line: string): Exported | undefined {
  try {
    return JSON.parse(line) as Exported;
  } catch {
    return undefined;
  }
}

function noneYet(error: NodeJS.ErrnoException): string {
  if (error.code === 'ENOENT') return '';
  throw error;
}
