/** How long a transaction may take, unless it does bulk work (docs/rules.md, notifications may be lost). */
export const longestTransactionMs = 30_000;

/**
 * The classes of work, each with pools of its own.
 * - `session`: who calls, whether the service is ready, and what every request counts. Nothing that a tenant may have locked.
 * - `request`: what a request of a tenant reads and writes.
 * - `worker`: the steps of workflows, which are repeated if they fail.
 * - `maintenance`: statements that take minutes or need a session of their own, one at a time.
 * - `migration`: changes of the schema.
 */
export type WorkClass = 'session' | 'request' | 'worker' | 'maintenance' | 'migration';

/** The bounds of a class of work, in milliseconds; 0 is no bound. */
export interface WorkBounds {
  /** A transaction, or a statement outside of one. */
  transactionMs: number;
  /** The wait for one lock. */
  lockMs: number;
  /** The wait for a connection of the pool. */
  queueMs: number;
}

export const boundsOf: Record<WorkClass, WorkBounds> = {
  session: { transactionMs: 2_500, lockMs: 1_000, queueMs: 5_000 },
  request: { transactionMs: longestTransactionMs, lockMs: 3_000, queueMs: 5_000 },
  worker: { transactionMs: longestTransactionMs, lockMs: 10_000, queueMs: 10_000 },
  maintenance: { transactionMs: 0, lockMs: 0, queueMs: 10_000 },
  // A lock that a migration waits for stops everybody who asks after it.
  migration: { transactionMs: 0, lockMs: 2_000, queueMs: 10_000 },
};

/** A transaction that does bulk work. */
export const bulkBounds = { transactionMs: 15 * 60_000, lockMs: 30_000 };

/** How long a transaction may wait for its process. */
export const longestIdleMs = 15_000;

/** How much later than the server a client gives up, which it must if the server is gone. */
export const answerMarginMs = 3_000;

/** The statement that declares a transaction to be bulk work. */
export const doBulkWork = setLocal(bulkBounds);

/** Sets bounds for the current transaction alone: a pooler may give the connection to somebody else afterwards. */
export function setLocal({ transactionMs, lockMs }: Pick<WorkBounds, 'transactionMs' | 'lockMs'>): string {
  return `set local statement_timeout = ${transactionMs}; set local lock_timeout = ${lockMs}`;
}

/** Keeps idle connections known to what is between the process and the server, and finds those that died. */
export const keepAlive = { keepAlive: true, keepAliveInitialDelayMillis: 10_000 };
