import { sql } from 'kysely';
import type { Db, Transaction } from '../../db/connect.ts';
import { inTransaction } from '../../db/transaction.ts';
import type { ChunkPlace } from '../chunking/place-chunks.ts';
import type { EmbeddedChunk } from '../chunks/store-chunks.ts';
import { lockDocument, lockWorkspace } from '../locks.ts';
import type { BehindDocument } from './find-behind.ts';
import type { IndexKind } from './index-kind.ts';

const floatBytes = 4;

/** The chunks of a document that were embedded anew. */
export interface StagedChunks {
  kind: IndexKind;
  chunks: EmbeddedChunk[];
}

/**
 * Stores a document's new chunks until its workspace is switched; no search reads them before. Returns false, and stores nothing, if the
 * document was deleted, indexed or extracted again in the meantime.
 */
export async function stageDocument(
  db: Db,
  { documentId, indexedAt, extractedAt }: BehindDocument,
  { kind, chunks }: StagedChunks,
): Promise<boolean> {
  return await inTransaction(db, async (trx) => {
    const found = await trx.selectFrom('document').select('workspace_id').where('id', '=', documentId).executeTakeFirst();
    if (!found || !(await lockWorkspace(trx, found.workspace_id, 'keep'))) return false;
    // Whoever stores a text deletes what is staged, and must not miss this.
    const document = await lockDocument(trx, documentId, 'change');
    if (!document || !isSameTime(document.indexed_at, indexedAt) || !isSameTime(document.extracted_at, extractedAt)) return false;
    const place = { organization_id: document.organization_id, workspace_id: document.workspace_id, indexed_at: indexedAt };
    const staged = {
      ...place,
      ...kind,
      texts: chunks.map(({ text }) => text),
      places: placesOf(chunks),
      vectors: joinVectors(chunks, kind.dimensions),
    };
    await trx
      .insertInto('staged_index')
      .values({ document_id: documentId, ...staged })
      .onConflict((conflict) => conflict.column('document_id').doUpdateSet(staged))
      .execute();
    return true;
  });
}

/** The chunks that wait for the switch, and the time of the index that the document had when they were made; or undefined. */
export async function readStaged(trx: Transaction, documentId: string): Promise<(StagedChunks & { indexedAt: Date }) | undefined> {
  const { rows } = await sql<IndexKind & { indexedAt: Date; texts: string[]; places: (ChunkPlace | null)[]; vectors: Buffer }>`
    select model, dimensions, chunking, indexed_at as "indexedAt", texts, places, vectors from staged_index where document_id = ${documentId}
  `.execute(trx);
  const [row] = rows;
  if (!row) return undefined;
  const { texts, places, vectors, indexedAt, ...kind } = row;
  const chunks = texts.map((text, index) => ({
    text,
    place: places[index] ?? undefined,
    embedding: readVector(vectors, index, kind.dimensions),
  }));
  return { kind, indexedAt, chunks };
}

function isSameTime(one: Date | null, other: Date | null): boolean {
  return one?.getTime() === other?.getTime();
}

function placesOf(chunks: EmbeddedChunk[]): string {
  return JSON.stringify(chunks.map(({ place }) => place ?? null));
}

function joinVectors(chunks: EmbeddedChunk[], dimensions: number): Buffer {
  const bytes = Buffer.allocUnsafe(chunks.length * dimensions * floatBytes);
  for (const [place, { embedding }] of chunks.entries())
    for (let index = 0; index < dimensions; index += 1)
      bytes.writeFloatLE(embedding[index] ?? 0, (place * dimensions + index) * floatBytes);
  return bytes;
}

function readVector(bytes: Buffer, place: number, dimensions: number): Float32Array {
  const vector = new Float32Array(dimensions);
  for (let index = 0; index < dimensions; index += 1) vector[index] = bytes.readFloatLE((place * dimensions + index) * floatBytes);
  return vector;
}
