/** The codes of errors with which a connection does not come about. One that breaks later may break because of what was sent over it. */
const codes = new Set(['ECONNREFUSED', 'EAI_AGAIN', 'EHOSTUNREACH', 'ENETUNREACH', 'ENOTFOUND', 'ETIMEDOUT', 'UND_ERR_CONNECT_TIMEOUT']);

/** Whether a request failed because its server could not be reached at all. */
export function cannotConnect(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  return ('code' in error && codes.has(String(error.code))) || cannotConnect(error.cause);
}
