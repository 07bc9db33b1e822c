import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { type Client, type Document, type RetryOptions, SheafError } from '../../index.ts';
import { type AtOnce, forEachAtOnce } from '../at-once.ts';
import { readPages } from '../run.ts';
import type { Outcome } from '../tally.ts';
import { type Catalog, type Noted, openCatalog } from './catalog.ts';
import { createFolder, type Folder } from './folder.ts';

interface Exporting extends AtOnce {
  client: Client;
  /** How often an original is fetched that breaks off. */
  retries: RetryOptions;
  organizationId: string;
  workspaceId: string;
  /** Only documents with these tags. */
  tags: string[] | undefined;
  directory: string;
  onReceived: (bytes: number) => void;
  onOutcome: (outcome: ExportOutcome) => void;
}

type ExportOutcome = Outcome<'exported' | 'unchanged' | 'skipped'> & { documentId: string };

/**
 * Writes the documents of a workspace that are ready into a folder: `originals/`, `texts/` for what was extracted, and `documents.jsonl`,
 * which says all that is known of each. What is there from an earlier export, with the same hash, is not fetched again.
 */
export async function exportDocuments(exporting: Exporting): Promise<void> {
  const { client, organizationId, workspaceId, tags, directory, onOutcome } = exporting;
  await mkdir(directory, { recursive: true });
  const catalog = await openCatalog(join(directory, 'documents.jsonl'));
  const folder = createFolder({ ...exporting, noted: catalog.entries() });
  const filter = { organizationId, workspaceId, status: 'ready', limit: 200, ...(tags ? { tag: tags } : {}) } as const;
  const read = (cursor = {}) => client.documents.list({ ...filter, ...cursor });
  await forEachAtOnce(readPages(undefined, read), exporting, async (document) =>
    onOutcome(await exportDocument(document, { client, catalog, folder })),
  );
}

interface Means {
  client: Client;
  catalog: Catalog;
  folder: Folder;
}

async function exportDocument(document: Document, means: Means): Promise<ExportOutcome> {
  const { catalog, folder } = means;
  const outcome = { path: document.name, documentId: document.id };
  const noted = catalog.find(document.id);
  try {
    const there = noted && (await folder.has(noted.original, noted.sha256)) ? noted : undefined;
    if (there && (await isCurrent(document, there, folder))) return { ...outcome, status: 'unchanged' };
    const { document: now, original, sha256 } = there ? { document, ...there } : await folder.fetchOriginal(document);
    const text = await writeText(now, original, means);
    await catalog.add({ ...now, original, sha256, text });
    return { ...outcome, status: 'exported' };
  } catch (error) {
    // It was deleted after it was listed.
    if (error instanceof SheafError && error.status === 404) return { ...outcome, status: 'skipped' };
    if (error instanceof SheafError) throw error;
    return { ...outcome, status: 'failed', error };
  }
}

async function isCurrent(document: Document, noted: Noted, folder: Folder): Promise<boolean> {
  const isSame = noted.updatedAt === document.updatedAt && noted.extracted?.at === document.extracted?.at;
  return isSame && (noted.text === null || (await folder.has(noted.text)));
}

/** Writes what was extracted, and returns its path; null if nothing was. */
async function writeText(document: Document, original: string, { client, folder }: Means): Promise<string | null> {
  const { id, extracted } = document;
  const { text } = extracted === null ? { text: null } : await client.documents.text({ id });
  return text === null ? null : await folder.writeText(document, original, text);
}
