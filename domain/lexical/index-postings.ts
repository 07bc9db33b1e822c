import { sql } from 'kysely';
import type { Db } from '../../db/connect.ts';
import { inTransaction } from '../../db/transaction.ts';
import { lockDocument, lockWorkspace } from '../locks.ts';
import { storePostings } from './store-postings.ts';

const documentsPerRead = 100;

interface Missing {
  id: string;
  workspace_id: string;
}

/**
 * Gives their postings to documents that have none, or only those of an earlier index: what was stored before there were postings, and
 * what an older version stores while it still runs. Each document is a transaction of its own, so that no write waits for long. Several
 * processes may call it at once. Returns how many documents it did.
 */
export async function indexPostings(db: Db): Promise<number> {
  let done = 0;
  for (let after = ''; ; ) {
    const missing = await findMissing(db, after);
    for (const document of missing) if (await indexDocument(db, document)) done += 1;
    const last = missing.at(-1);
    if (!last || missing.length < documentsPerRead) return done;
    after = last.id;
  }
}

/** Reads both tables in the order of their keys, and nothing twice. */
async function findMissing(db: Db, after: string): Promise<Missing[]> {
  const { rows } = await sql<Missing>`
    select document.id, document.workspace_id
    from document left join lexical_document on lexical_document.document_id = document.id
    where document.id > ${after} and document.chunk_count > 0 and lexical_document.indexed_at is distinct from document.indexed_at
    order by document.id limit ${documentsPerRead}
  `.execute(db);
  return rows;
}

async function indexDocument(db: Db, { id, workspace_id }: Missing): Promise<boolean> {
  return await inTransaction(db, async (trx) => {
    await lockWorkspace(trx, workspace_id, 'keep');
    const document = await lockDocument(trx, id, 'change');
    const known = await trx.selectFrom('lexical_document').select('indexed_at').where('document_id', '=', id).executeTakeFirst();
    // Deleted or indexed again meanwhile.
    if (!document || document.indexed_at?.getTime() === known?.indexed_at.getTime()) return false;
    const chunks = await trx.selectFrom('chunk').select('text').where('document_id', '=', id).orderBy('index').execute();
    await storePostings(
      trx,
      document,
      chunks.map(({ text }) => text),
    );
    return true;
  });
}
