import { sql } from 'kysely';
import type { Db, Transaction } from './connect.ts';

/**
 * Runs the reads of a transaction, which is rolled back when the signal aborts: the statement that the server still runs is canceled there,
 * over another connection of `db`. Rejects with the signal's reason then. The work must not use batched reads, which others share.
 */
export async function cancelOnAbort<T>(db: Db, trx: Transaction, signal: AbortSignal, work: () => Promise<T>): Promise<T> {
  const { rows } = await sql<{ pid: number }>`select pg_backend_pid() as pid`.execute(trx);
  signal.throwIfAborted();
  let canceling: Promise<unknown> | undefined;
  const cancel = () => {
    // What could not be canceled ends by itself, at the latest with its timeout.
    canceling = sql`select pg_cancel_backend(${rows[0]?.pid})`.execute(db).catch(() => {});
  };
  signal.addEventListener('abort', cancel, { once: true });
  try {
    return await work();
  } catch (error) {
    throw signal.aborted ? signal.reason : error;
  } finally {
    signal.removeEventListener('abort', cancel);
    // Until then the connection has no other transaction, which would be canceled instead.
    await canceling;
    signal.throwIfAborted();
  }
}
