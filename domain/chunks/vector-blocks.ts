import { type SqlBool, sql } from 'kysely';
import { anyOf } from '../../db/batched-read.ts';
import type { Db, Transaction } from '../../db/connect.ts';
import type { LentBytes } from '../../db/lent-bytes.ts';
import type { VectorBlockTable } from '../../db/schema.ts';
import type { DocumentRow } from '../documents/document.ts';
import { ScanPace } from '../scan-pace.ts';
import { type Candidate, type ChunkQuery, candidatesOfDocument } from './candidate.ts';
import { storeHalfVectors } from './half-vectors.ts';
import { keepBest } from './keep-best.ts';
import { keepBestDocuments } from './keep-best-documents.ts';
import { createScorer } from './quantize.ts';

/** About as much text as a block has. */
const blockCharacters = 8_192;
/** How many blocks a scan reads at once: 1 MB, which is what a search of a large workspace holds in memory, twice. */
const blocksPerRead = 128;
/** The same where documents are named: a block holds about sixty chunks, or all of a smaller document. */
const mostRead = { documents: 256, chunks: 16_000 };

/** A chunk's vector, as `quantize` writes it. */
export interface QuantizedChunk {
  model: string;
  dimensions: number;
  vector: string;
}

type Block = Pick<VectorBlockTable, 'document_id' | 'first_index'> & { vectors: LentBytes };

/**
 * Replaces a document's blocks by those of its chunks, which are given in their order, and notes that they are those of its index.
 * Needs the document's lock.
 */
export async function storeVectorBlocks(trx: Transaction, document: DocumentRow, chunks: QuantizedChunk[]): Promise<void> {
  await trx.deleteFrom('vector_block').where('document_id', '=', document.id).execute();
  const blocks = toBlocks(document, chunks);
  if (blocks.length > 0) await trx.insertInto('vector_block').values(blocks).execute();
  if (blocks.length > 0) await storeHalfVectors(trx, document.id);
  await trx.updateTable('document').set({ quantized_at: sql`indexed_at` }).where('id', '=', document.id).execute();
}

function toBlocks({ id, organization_id, workspace_id }: DocumentRow, chunks: QuantizedChunk[]): VectorBlockTable[] {
  const blocks: VectorBlockTable[] = [];
  for (const [index, { model, dimensions, vector }] of chunks.entries()) {
    const block = blocks.at(-1);
    const fits = block?.model === model && block.dimensions === dimensions && block.vectors.length + vector.length <= blockCharacters;
    if (fits) block.vectors += vector;
    else blocks.push({ workspace_id, model, dimensions, document_id: id, first_index: index, organization_id, vectors: vector });
  }
  return blocks;
}

/**
 * The chunks of the query's workspace, model and count of dimensions that are nearest by their quantized vectors, in no order; or those of
 * the documents that have the nearest.
 */
export async function scanVectorBlocks(db: Db, query: ChunkQuery, count: number): Promise<Candidate[]> {
  const score = createScorer(query.vector);
  const best = query.byDocument ? keepBestDocuments(count, candidatesOfDocument) : keepBest(count);
  const pace = new ScanPace(query.workspaceId, query.rest);
  const readNext = query.scope?.named ? createNamedReader(db, query, query.scope.named) : createReader(db, query);
  let reading = readNext();
  while (reading) {
    const blocks = await reading;
    reading = readNext(blocks);
    // Its failure is thrown when it is awaited. It is sent before this thread is busy with scores.
    reading?.catch(() => {});
    for (const { document_id: documentId, first_index: first, vectors } of blocks) {
      if (pace.isOver()) await pace.next();
      const scores = score(vectors.bytes, vectors.start, vectors.end);
      for (let at = 0; at < scores.length; at += 1) best.offer(scores[at] as number, documentId, first + at);
      vectors.release();
    }
  }
  return best.candidates();
}

/** Reads the next blocks, if there may be any, after those that were read last. The blocks of a document come one after another. */
type ReadNext = (last?: Block[]) => Promise<Block[]> | undefined;

/** Reads all blocks, in their order. */
function createReader(db: Db, query: ChunkQuery): ReadNext {
  return (last) => {
    if (last && last.length < blocksPerRead) return undefined;
    const after = last?.at(-1);
    let read = selectBlocks(db, query);
    if (after) read = read.where(sql<SqlBool>`(document_id, first_index) > (${after.document_id}, ${after.first_index})`);
    return read.limit(blocksPerRead).execute();
  };
}

/** Reads the blocks of documents that are named, of a bounded number of them at once. */
function createNamedReader(db: Db, query: ChunkQuery, named: { id: string; chunks: number }[]): ReadNext {
  let next = 0;
  return () => {
    if (next >= named.length) return undefined;
    const ids: string[] = [];
    for (let chunks = 0; next < named.length && ids.length < mostRead.documents; next += 1) {
      const document = named[next] as { id: string; chunks: number };
      chunks += document.chunks;
      if (ids.length > 0 && chunks > mostRead.chunks) break;
      ids.push(document.id);
    }
    return selectBlocks(db, { ...query, scope: undefined })
      .where('document_id', '=', anyOf(ids))
      .execute();
  };
}

function selectBlocks(db: Db, { workspaceId, model, vector, scope }: ChunkQuery) {
  const read = db
    .selectFrom('vector_block')
    .select(['document_id', 'first_index', sql<LentBytes>`vectors::bpchar`.as('vectors')])
    .where('workspace_id', '=', workspaceId)
    .where('model', '=', model)
    .where('dimensions', '=', vector.length)
    .orderBy('document_id')
    .orderBy('first_index');
  return scope ? read.where(scope.includes(sql.ref('vector_block.document_id'))) : read;
}
