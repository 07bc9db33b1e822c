import { sql } from 'kysely';
import type { Db } from '../../db/connect.ts';
import { readRealArray } from '../../db/real-array.ts';
import { inTransaction } from '../../db/transaction.ts';
import { lockDocument, lockWorkspace } from '../locks.ts';
import { quantize } from './quantize.ts';
import { storeVectorBlocks } from './vector-blocks.ts';

const documentsPerRead = 100;

/**
 * Gives their vector blocks to documents that have none, or only those of an earlier index: what was stored before there were blocks,
 * and what an older version stores while it still runs. Each document is a transaction of its own, so that no write waits for long.
 * Several processes may call it at once. Returns how many documents it did.
 */
export async function quantizeDocuments(db: Db): Promise<number> {
  let quantized = 0;
  for (let after = ''; ; ) {
    const { rows } = await sql<{ id: string; workspace_id: string }>`
      select id, workspace_id from document
      where chunk_count > 0 and quantized_at is distinct from indexed_at and id > ${after}
      order by id limit ${documentsPerRead}
    `.execute(db);
    for (const document of rows) if (await quantizeDocument(db, document)) quantized += 1;
    const last = rows.at(-1);
    if (!last || rows.length < documentsPerRead) return quantized;
    after = last.id;
  }
}

async function quantizeDocument(db: Db, { id, workspace_id }: { id: string; workspace_id: string }): Promise<boolean> {
  return await inTransaction(db, async (trx) => {
    await lockWorkspace(trx, workspace_id, 'keep');
    const document = await lockDocument(trx, id, 'change');
    // Deleted or indexed again meanwhile.
    if (!document || document.quantized_at?.getTime() === document.indexed_at?.getTime()) return false;
    const { rows } = await sql<{ model: string; embedding: Uint8Array }>`
      select model, array_send(embedding) as embedding from chunk where document_id = ${id} order by index
    `.execute(trx);
    const chunks = rows.map(({ model, embedding }) => {
      const vector = readRealArray(embedding);
      return { model, dimensions: vector.length, vector: quantize(vector) };
    });
    await storeVectorBlocks(trx, document, chunks);
    return true;
  });
}
