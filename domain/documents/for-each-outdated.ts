import type { Db, Transaction } from '../../db/connect.ts';
import { inTransaction } from '../../db/transaction.ts';
import { Failures } from '../failures.ts';
import { lockDocument, lockWorkspace } from '../locks.ts';
import type { DocumentRow } from './document.ts';

export type OutdatedDocument = Pick<DocumentRow, 'id' | 'workspace_id'>;

export interface OutdatedPage {
  /** The id that the page begins after; empty at first. */
  after: string;
  limit: number;
}

const documentsPerRead = 100;

/**
 * Updates what is derived from documents' chunks, where it is absent or derived from an earlier index: such documents were stored before it
 * existed, or by an older version that still runs. `find` lists them in the order of their ids. `store` runs under the document's lock, and
 * returns false if there is nothing left to do. Each document has its own transaction, so that no write waits for long. Several processes
 * may run it at once. Returns how many documents were stored. Throws the signal's reason, or at the end the first error of `store`.
 */
export async function forEachOutdated(
  db: Db,
  find: (db: Db, page: OutdatedPage) => Promise<OutdatedDocument[]>,
  store: (trx: Transaction, document: DocumentRow) => Promise<boolean>,
  signal?: AbortSignal,
): Promise<number> {
  const failures = new Failures();
  let stored = 0;
  for (let after = ''; ; ) {
    const outdated = await find(db, { after, limit: documentsPerRead });
    for (const document of outdated) {
      signal?.throwIfAborted();
      if (await failures.note(() => storeOne(db, document, store))) stored++;
    }
    const last = outdated.at(-1);
    if (!last || outdated.length < documentsPerRead) break;
    after = last.id;
  }
  failures.throwFirst();
  return stored;
}

/** The document may have been deleted, or indexed again, since it was listed. */
async function storeOne(
  db: Db,
  { id, workspace_id }: OutdatedDocument,
  store: (trx: Transaction, document: DocumentRow) => Promise<boolean>,
): Promise<boolean> {
  return await inTransaction(db, async (trx) => {
    await lockWorkspace(trx, workspace_id, 'keep');
    const document = await lockDocument(trx, id, 'change');
    return document !== undefined && (await store(trx, document));
  });
}
