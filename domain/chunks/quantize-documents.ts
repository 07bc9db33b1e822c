import { sql } from 'kysely';
import type { Db, Transaction } from '../../db/connect.ts';
import { readRealArray } from '../../db/real-array.ts';
import type { DocumentRow } from '../documents/document.ts';
import { forEachOutdated, type OutdatedDocument, type OutdatedPage } from '../documents/for-each-outdated.ts';
import { quantize } from './quantize.ts';
import { storeVectorBlocks } from './vector-blocks.ts';

/** Gives their vector blocks to documents that have none, or only those of an earlier index; see {@link forEachOutdated}. */
export async function quantizeDocuments(db: Db, signal?: AbortSignal): Promise<number> {
  return await forEachOutdated(db, findUnquantized, quantizeDocument, signal);
}

async function findUnquantized(db: Db, { after, limit }: OutdatedPage): Promise<OutdatedDocument[]> {
  const { rows } = await sql<OutdatedDocument>`
    select id, workspace_id from document
    where chunk_count > 0 and quantized_at is distinct from indexed_at and id > ${after}
    order by id limit ${limit}
  `.execute(db);
  return rows;
}

async function quantizeDocument(trx: Transaction, document: DocumentRow): Promise<boolean> {
  if (document.quantized_at?.getTime() === document.indexed_at?.getTime()) return false;
  const { rows } = await sql<{ model: string; embedding: Uint8Array }>`
    select model, array_send(embedding) as embedding from chunk where document_id = ${document.id} order by index
  `.execute(trx);
  const chunks = rows.map(({ model, embedding }) => {
    const vector = readRealArray(embedding);
    return { model, dimensions: vector.length, vector: quantize(vector) };
  });
  await storeVectorBlocks(trx, document, chunks);
  return true;
}
