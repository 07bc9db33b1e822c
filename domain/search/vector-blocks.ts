/**
 * Vectors for databases without pgvector: a byte for each dimension, in rows of many chunks, which a search reads and compares in this
 * process. They are also stored beside pgvector, so that a backup can be restored without it.
 */
import { type SqlBool, sql } from 'kysely';
import type { Transaction } from '../../db/connect.ts';
import type { VectorBlockTable } from '../../db/schema.ts';
import type { DocumentRow } from '../documents/document.ts';
import { Best } from './keep-best.ts';
import { dotProduct } from './unit-vector.ts';
import { type ChunkKey, candidatesFor, type VectorQuery } from './vector-query.ts';

/** The size of a block, in characters of base64. */
const blockCharacters = 16_384;
const bytesOfBlock = (blockCharacters * 3) / 4;
/** 1 MB, of which a search holds two at a time. */
const blocksPerRead = 64;
/** How many candidates are kept for each document: among these nearest by bytes is the nearest one. */
const chunksOfDocument = 3;
/** A vector begins with its scale. */
const scaleBytes = 4;
const largest = 127;

/** Stores the vectors of a document's chunks, which are given in their order. */
export async function storeVectorBlocks(
  trx: Transaction,
  { id, organization_id, workspace_id }: DocumentRow,
  { model, vectors }: { model: string; vectors: Float32Array[] },
): Promise<void> {
  const dimensions = vectors[0]?.length ?? 0;
  const perBlock = Math.max(1, Math.floor(bytesOfBlock / (scaleBytes + dimensions)));
  const blocks: VectorBlockTable[] = [];
  for (let first = 0; first < vectors.length; first += perBlock) {
    const bytes = Buffer.concat(vectors.slice(first, first + perBlock).map(toBytes));
    const key = { workspace_id, model, dimensions, document_id: id, first_index: first };
    blocks.push({ ...key, organization_id, vectors: bytes.toString('base64') });
  }
  if (blocks.length > 0) await trx.insertInto('vector_block').values(blocks).execute();
}

function toBytes(vector: Float32Array): Buffer {
  const bytes = Buffer.alloc(scaleBytes + vector.length);
  const scale = vector.reduce((max, value) => Math.max(max, Math.abs(value)), 0) / largest;
  bytes.writeFloatLE(scale);
  if (scale > 0) for (const [index, value] of vector.entries()) bytes.writeInt8(Math.round(value / scale), scaleBytes + index);
  return bytes;
}

/** Candidates for the nearest chunks; by document, the nearest chunks of the nearest documents. Reads all comparable vectors. */
export async function scanVectorBlocks(trx: Transaction, query: VectorQuery): Promise<ChunkKey[]> {
  const best = new Best<ChunkKey[]>(candidatesFor(query.limit));
  const length = scaleBytes + query.vector.length;
  let ofDocument = new Best<ChunkKey>(chunksOfDocument);
  let documentId = '';
  const endDocument = () => {
    const chunks = ofDocument.ranked();
    if (chunks[0])
      best.offer(
        chunks[0].score,
        chunks.map(({ item }) => item),
      );
    ofDocument = new Best(chunksOfDocument);
  };
  let reading: Promise<Block[]> | undefined = readBlocks(trx, query);
  while (reading) {
    const blocks: Block[] = await reading;
    const last = blocks.length === blocksPerRead ? blocks.at(-1) : undefined;
    // The next blocks are read while these are compared. An error is thrown when it is awaited.
    reading = last && readBlocks(trx, query, last);
    reading?.catch(() => {});
    for (const block of blocks) {
      if (block.document_id !== documentId) endDocument();
      documentId = block.document_id;
      const bytes = Buffer.from(block.vectors, 'base64');
      const numbers = new Int8Array(bytes.buffer, bytes.byteOffset, bytes.length);
      for (let at = 0; at < bytes.length; at += length) {
        const score = bytes.readFloatLE(at) * dotProduct(query.vector, numbers.subarray(at + scaleBytes, at + length));
        if (query.byDocument ? score <= ofDocument.least : score <= best.least) continue;
        const chunk = { documentId, index: block.first_index + at / length };
        if (query.byDocument) ofDocument.offer(score, chunk);
        else best.offer(score, [chunk]);
      }
    }
  }
  endDocument();
  return best.ranked().flatMap(({ item }) => item);
}

type Block = Pick<VectorBlockTable, 'document_id' | 'first_index' | 'vectors'>;

function readBlocks(trx: Transaction, { workspaceId, model, vector, scope }: VectorQuery, after?: Block): Promise<Block[]> {
  let read = trx
    .selectFrom('vector_block')
    .select(['document_id', 'first_index', 'vectors'])
    .where('workspace_id', '=', workspaceId)
    .where('model', '=', model)
    .where('dimensions', '=', vector.length)
    .orderBy('document_id')
    .orderBy('first_index')
    .limit(blocksPerRead);
  if (scope) read = read.where(scope.includes(sql.ref('vector_block.document_id')));
  if (after) read = read.where(sql<SqlBool>`(document_id, first_index) > (${after.document_id}, ${after.first_index})`);
  return read.execute();
}
