/** The maximum duration of a transaction that may change a job (docs/rules.md, notifications may be lost). */
export const longestTransactionMs = 30_000;

/**
 * The classes of work, each with connections of its own.
 * - `session`: sessions, readiness and the counters of requests: nothing that a tenant can lock.
 * - `request`: the reads and writes of a tenant's request.
 * - `worker`: the steps of workflows, which are repeated if they fail.
 * - `bulk`: steps that may change all data of a tenant in one transaction, but no job.
 * - `maintenance`: statements that take minutes or need a session of their own, one at a time.
 * - `migration`: changes of the schema.
 */
export type WorkClass = 'session' | 'request' | 'worker' | 'bulk' | 'maintenance' | 'migration';

/** The bounds that Postgres enforces for a class of work, in milliseconds; 0 means no bound. */
export interface WorkBounds {
  /** The duration of a statement. Half a second later the client gives up a silent server, and the connection. */
  statementMs: number;
  /** The wait for a lock. */
  lockMs: number;
  transactionMs: number;
  /** How long a transaction may be idle. */
  idleMs: number;
  /** The wait for a connection, new or from the pool. */
  connectMs: number;
}

const longestIdleMs = 15_000;
const bulkMs = 15 * 60_000;

/**
 * A request notices a silent server within five seconds. A migration waits briefly, because a waiting lock request blocks all later ones.
 */
export const boundsOf: Record<WorkClass, WorkBounds> = {
  session: { statementMs: 2_000, lockMs: 1_000, transactionMs: 2_500, idleMs: 2_500, connectMs: 2_000 },
  request: { statementMs: 4_000, lockMs: 3_000, transactionMs: longestTransactionMs, idleMs: longestIdleMs, connectMs: 4_500 },
  worker: { statementMs: 15_000, lockMs: 10_000, transactionMs: longestTransactionMs, idleMs: longestIdleMs, connectMs: 10_000 },
  bulk: { statementMs: bulkMs, lockMs: 30_000, transactionMs: bulkMs, idleMs: longestIdleMs, connectMs: 10_000 },
  maintenance: { statementMs: 0, lockMs: 0, transactionMs: 0, idleMs: longestIdleMs, connectMs: 10_000 },
  migration: { statementMs: 0, lockMs: 2_000, transactionMs: 0, idleMs: longestIdleMs, connectMs: 10_000 },
};

const silenceMarginMs = 500;

/** How long a client waits for a statement's response, in milliseconds; undefined means no bound. */
export function responseMs({ statementMs }: WorkBounds): number | undefined {
  return statementMs === 0 ? undefined : statementMs + silenceMarginMs;
}

/** The bounds by the names of Postgres's settings. */
export function settingsOf({ statementMs, lockMs, transactionMs, idleMs }: WorkBounds): Record<string, number> {
  return {
    statement_timeout: statementMs,
    lock_timeout: lockMs,
    transaction_timeout: transactionMs,
    idle_in_transaction_session_timeout: idleMs,
  };
}

/** Keeps idle connections open in firewalls and proxies on the way, and detects dead ones. */
export const keepAlive = { keepAlive: true, keepAliveInitialDelayMillis: 10_000 };
