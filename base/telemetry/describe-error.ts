/**
 * The fields of an error that the log shows besides kind, message, stack and causes. `detail` and `where` of Postgres are not among them,
 * since they quote rows, nor is what libraries add: requests, responses, recipients.
 */
const told = ['code', 'status', 'statusCode', 'kind', 'severity', 'schema', 'table', 'column', 'constraint', 'routine', 'syscall'] as const;

/** Causes of causes are rarely of use, and might form a circle. */
const maxCauses = 4;

/** An error as the log shows it: without values of rows, bodies or headers. For a value that is not an error only its type. */
export function describeError(error: unknown, depth = 0): Record<string, unknown> {
  if (!(error instanceof Error)) return { type: typeof error };
  const message = withoutValues(error);
  const stack = error.stack?.replace(error.message, () => message);
  const described: Record<string, unknown> = { type: error.constructor.name, message, stack };
  const fields = error as Error & Record<string, unknown>;
  for (const name of told) if (isPlain(fields[name])) described[name] = fields[name];
  if (depth >= maxCauses) return described;
  if (error.cause !== undefined) described.cause = describeError(error.cause, depth + 1);
  if (error instanceof AggregateError) described.errors = error.errors.slice(0, maxCauses).map((each) => describeError(each, depth + 1));
  return described;
}

/** Postgres quotes the value that it could not use (class 22, data exceptions). Elsewhere it quotes names. */
function withoutValues(error: Error & { code?: unknown }): string {
  const isDataException = typeof error.code === 'string' && /^22[0-9A-Z]{3}$/.test(error.code);
  return isDataException ? error.message.replace(/".*"/s, '"…"') : error.message;
}

function isPlain(value: unknown): boolean {
  return typeof value === 'string' || typeof value === 'number';
}
