import pg from 'pg';

/** The database could not be reached, or did not respond in time. Whether what was asked for has happened is not known. */
export class DatabaseUnavailable extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'DatabaseUnavailable';
  }
}

/** lock_not_available: lock_timeout */
const lockNotAvailable = '55P03';

/** What Postgres, or a pooler in front of it, says if it cannot do something now that it may be able to do later. */
const codes = new Set([
  '40001', // serialization_failure, after the repetitions of inTransaction
  '40P01', // deadlock_detected, likewise
  '28P01', // invalid_password: one that is changed while this process runs
  '53100', // disk_full
  '53200', // out_of_memory
  '53300', // too_many_connections
  lockNotAvailable,
  '57014', // query_canceled: statement_timeout
  '57P01', // admin_shutdown
  '57P02', // crash_shutdown
  '57P03', // cannot_connect_now
  '57P05', // idle_session_timeout
  '25P03', // idle_in_transaction_session_timeout
  '25P04', // transaction_timeout
]);
const connectionExceptions = '08';
/** undefined_object: a setting that the server does not have. */
const undefinedObject = '42704';

/** Whether a statement has waited for a lock for as long as it may. */
export function isLockTimeout(error: unknown): boolean {
  return error instanceof pg.DatabaseError && error.code === lockNotAvailable;
}

/** Whether an error says that the database is away, overloaded or locked, and not that the statement was wrong. */
export function isUnavailable(error: unknown): boolean {
  if (error instanceof DatabaseUnavailable) return true;
  if (!(error instanceof pg.DatabaseError) || error.code === undefined) return false;
  return codes.has(error.code) || error.code.startsWith(connectionExceptions);
}

/**
 * Marks what a connection itself reports: an error of the network, or of its own bounds. A server that is too old says so in clear words.
 * Any other error is returned as it is.
 */
export function toUnavailable(error: unknown): unknown {
  if (error instanceof pg.DatabaseError && error.code === undefinedObject && error.message.includes('transaction_timeout'))
    return new Error('Postgres 17 or newer is required: this server is older.', { cause: error });
  const isOwn = error instanceof DatabaseUnavailable || error instanceof pg.DatabaseError || error instanceof TypeError;
  if (isOwn || !(error instanceof Error)) return error;
  // A host with several addresses that all refuse has no message.
  const message = error.message || ('code' in error ? String(error.code) : error.name);
  return new DatabaseUnavailable(message, { cause: error });
}
