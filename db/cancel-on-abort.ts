import { sql } from 'kysely';
import type { Db, Transaction } from './connect.ts';

/**
 * Runs the reads of a transaction. When the signal aborts, the running statement is canceled on the server, over another connection of
 * `db`, and this rejects with the signal's reason. The work must not use batched reads, which other callers share.
 */
export async function cancelOnAbort<T>(db: Db, trx: Transaction, signal: AbortSignal, work: () => Promise<T>): Promise<T> {
  const { rows } = await sql<{ pid: number }>`select pg_backend_pid() as pid`.execute(trx);
  signal.throwIfAborted();
  let canceling: Promise<unknown> | undefined;
  const cancel = () => {
    // If canceling fails, the statement ends at the latest with its timeout.
    canceling = sql`select pg_cancel_backend(${rows[0]?.pid})`.execute(db).catch(() => {});
  };
  signal.addEventListener('abort', cancel, { once: true });
  try {
    return await work();
  } catch (error) {
    throw signal.aborted ? signal.reason : error;
  } finally {
    signal.removeEventListener('abort', cancel);
    // Waits before the connection gets another transaction, which would be canceled instead.
    await canceling;
    signal.throwIfAborted();
  }
}
