import { type SqlBool, sql } from 'kysely';
import type { Db, Transaction } from '../../db/connect.ts';
import type { VectorBlockTable } from '../../db/schema.ts';
import type { DocumentRow } from '../documents/document.ts';
import type { Candidate, ChunkQuery } from './candidate.ts';
import { storeHalfVectors } from './half-vectors.ts';
import { keepBest } from './keep-best.ts';
import { createScorer, quantizedLength } from './quantize.ts';

/** About as much text as a block has. */
const blockCharacters = 8_192;
/** How many blocks a scan reads at once: 4 MB, which is what a search of a large workspace holds in memory, twice. */
const blocksPerRead = 512;

/** A chunk's vector, as `quantize` writes it. */
export interface QuantizedChunk {
  model: string;
  dimensions: number;
  vector: string;
}

type Block = Pick<VectorBlockTable, 'document_id' | 'first_index' | 'vectors'>;

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

/** The chunks of the query's workspace, model and count of dimensions that are nearest by their quantized vectors, in no order. */
export async function scanVectorBlocks(db: Db, query: ChunkQuery, count: number): Promise<Candidate[]> {
  const score = createScorer(query.vector);
  const length = quantizedLength(query.vector.length);
  const best = keepBest(count);
  let blocks = await readBlocks(db, query);
  while (blocks.length > 0) {
    const next = blocks.length === blocksPerRead ? readBlocks(db, query, blocks.at(-1)) : Promise.resolve([]);
    // Its failure is thrown when it is awaited. It is sent before this thread is busy with scores.
    next.catch(() => {});
    await new Promise(setImmediate);
    for (const { document_id: documentId, first_index: first, vectors } of blocks) {
      for (let start = 0, index = first; start < vectors.length; start += length, index += 1)
        best.offer(score(vectors, start), documentId, index);
    }
    blocks = await next;
  }
  return best.candidates();
}

async function readBlocks(db: Db, { workspaceId, model, vector }: ChunkQuery, after?: Block): Promise<Block[]> {
  let read = db
    .selectFrom('vector_block')
    .select(['document_id', 'first_index', 'vectors'])
    .where('workspace_id', '=', workspaceId)
    .where('model', '=', model)
    .where('dimensions', '=', vector.length);
  if (after) read = read.where(sql<SqlBool>`(document_id, first_index) > (${after.document_id}, ${after.first_index})`);
  return await read.orderBy('document_id').orderBy('first_index').limit(blocksPerRead).execute();
}
