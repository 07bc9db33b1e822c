import type { Db } from '../../db/connect.ts';
import { getDocument } from '../../domain/documents/document.ts';
import { type ChunkSearch, type FoundChunk, findChunks } from '../../domain/search/find-chunks.ts';
import { storeChunks } from '../../domain/search/store-chunks.ts';
import { noOutline } from './outline.ts';

export interface NewChunk {
  model: string;
  vector: number[];
}

/** Writes an organization of one workspace, both named `id`, that is searched with this model. */
export async function insertWorkspace(db: Db, id: string, index: { model: string; dimensions: number }): Promise<void> {
  await db.insertInto('organization').values({ id, name: id, slug: id, createdAt: new Date() }).execute();
  await db.insertInto('workspace').values({ id, organization_id: id, name: id, slug: id }).execute();
  await db
    .insertInto('workspace_index')
    .values({ workspace_id: id, ...index, chunking: '1' })
    .execute();
}

/** Writes a document of a workspace of {@link insertWorkspace} with these chunks, and the text of them, as a job stores them. */
export async function insertDocument(
  db: Db,
  { id, workspaceId }: { id: string; workspaceId: string },
  model: string,
  chunks: { text: string; embedding: number[] }[],
): Promise<void> {
  const place = { organization_id: workspaceId, workspace_id: workspaceId, object_key: id, status: 'ready' } as const;
  await db
    .insertInto('document')
    .values({ ...place, id, name: `${id}.txt`, content_type: 'text/plain', size_bytes: 1 })
    .execute();
  const text = chunks.map((chunk) => chunk.text).join('\n\n');
  await db
    .insertInto('document_text')
    .values({ document_id: id, text, outline: JSON.stringify(noOutline) })
    .execute();
  await storeIn(db, id, model, chunks);
}

/** Replaces the chunks of a document, as a job does. */
export async function storeIn(db: Db, documentId: string, model: string, chunks: { text: string; embedding: number[] }[]): Promise<void> {
  const document = await getDocument(db, documentId);
  const kind = { model, dimensions: chunks[0]?.embedding.length ?? 0, chunking: '1' };
  await db.transaction().execute((trx) => storeChunks(trx, document, kind, chunks));
}

/**
 * Writes an organization of one workspace with these chunks, all under the name `id`: in one document of that name, and further ones for each
 * further model or count of dimensions.
 */
export async function insertWorkspaceOfChunks(db: Db, id: string, chunks: NewChunk[]): Promise<void> {
  const [first = { model: 'a', vector: [] }] = chunks;
  await insertWorkspace(db, id, { model: first.model, dimensions: first.vector.length });
  const documents: NewChunk[][] = [[]];
  for (const chunk of chunks) {
    const [other] = documents.at(-1) ?? [];
    if (other && (other.model !== chunk.model || other.vector.length !== chunk.vector.length)) documents.push([]);
    documents.at(-1)?.push(chunk);
  }
  for (const [number, own] of documents.entries()) {
    const texts = own.map(({ vector }, index) => ({ text: `chunk ${index}`, embedding: vector }));
    await insertDocument(db, { id: number === 0 ? id : `${id}-${number}`, workspaceId: id }, own[0]?.model ?? first.model, texts);
  }
}

/** Searches as a request does: all statements see one moment. */
export async function find(db: Db, search: ChunkSearch): Promise<FoundChunk[]> {
  const snapshot = db.transaction().setIsolationLevel('repeatable read').setAccessMode('read only');
  return (await snapshot.execute((trx) => findChunks(trx, search))).chunks;
}

/** Vectors in groups, as those of real texts are; the same ones for the same seed. */
export function makeVectors(seed: number, count: number, dimensions: number): number[][] {
  const groups = makeVectorsAround(new Array(dimensions).fill(0), { seed, count: 50, spread: 1 });
  const members = groups.map((center, i) =>
    makeVectorsAround(center, { seed: seed + i, count: Math.ceil(count / groups.length), spread: 0.8 }),
  );
  return members.flat().slice(0, count);
}

/** Vectors that are no farther from a center than half of the spread, in each dimension. */
export function makeVectorsAround(center: number[], { seed, count, spread }: { seed: number; count: number; spread: number }): number[][] {
  const random = randomFrom(seed);
  return Array.from({ length: count }, () => center.map((value) => value + spread * (random() - 0.5)));
}

/** A linear congruential generator: numbers from 0 to below 1. */
function randomFrom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}
