import pg from 'pg';

/** The database could not be reached, or did not respond in time. Whether the statement took effect is unknown. */
export class DatabaseUnavailable extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'DatabaseUnavailable';
  }
}

/** lock_not_available: lock_timeout */
const lockNotAvailable = '55P03';

const invalidPassword = '28P01';

/** read_only_sql_transaction: a standby, or a server that is set to take no writes. */
const takesNoWrites = '25006';

/** Codes of Postgres, or of a pooler in front of it, for failures that may be temporary. */
const codes = new Set([
  '40001', // serialization_failure, after the repetitions of inTransaction
  '40P01', // deadlock_detected, likewise
  takesNoWrites,
  invalidPassword, // one that is changed while this process runs
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

/** Whether a statement has timed out waiting for a lock. */
export function isLockTimeout(error: unknown): boolean {
  return error instanceof pg.DatabaseError && error.code === lockNotAvailable;
}

/** Whether a new connection may serve where this one does not: Postgres ends this one, or its address leads to another primary by now. */
export function isOfConnection(error: unknown): error is pg.DatabaseError {
  return error instanceof pg.DatabaseError && (error.severity === 'FATAL' || error.code === takesNoWrites);
}

/** Whether the address has a wrong password or TLS setting. While a process runs, either may be about to change. */
export function isMisconfigured(error: unknown): boolean {
  if (error instanceof pg.DatabaseError) return error.code === invalidPassword;
  if (!(error instanceof DatabaseUnavailable) || !(error.cause instanceof Error)) return false;
  const { code = '', message } = error.cause as NodeJS.ErrnoException;
  return /CERT|^UNABLE_TO_VERIFY|^ERR_(TLS|SSL)_/.test(code) || /^SASL: |does not support SSL/.test(message);
}

/** Whether an error means that the database is unreachable, overloaded or locked, and not that the statement was wrong. */
export function isUnavailable(error: unknown): boolean {
  if (error instanceof DatabaseUnavailable) return true;
  if (!(error instanceof pg.DatabaseError) || error.code === undefined) return false;
  return codes.has(error.code) || error.code.startsWith(connectionExceptions);
}

/**
 * Converts errors of a connection itself: of the network, or of its bounds. A server that is too old gets a clear message. Any other error
 * is returned as it is.
 */
export function toUnavailable(error: unknown): unknown {
  if (error instanceof pg.DatabaseError && error.code === undefinedObject && error.message.includes('transaction_timeout'))
    return new Error('Postgres 17 or newer is required: this server is older.', { cause: error });
  const isOwn = error instanceof DatabaseUnavailable || error instanceof pg.DatabaseError || error instanceof TypeError;
  if (isOwn || !(error instanceof Error)) return error;
  // The error has no message if all addresses of a host refuse.
  const message = error.message || ('code' in error ? String(error.code) : error.name);
  return new DatabaseUnavailable(message, { cause: error });
}
