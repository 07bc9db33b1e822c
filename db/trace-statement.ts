import { beginSpan, isTraced, type OpenSpan } from '../base/telemetry/spans.ts';

const longestText = 1_000;
const tableOf = /\b(?:from|into|update|table)\s+(?:only\s+)?"?([a-z_]+)/i;
const quoted = /'(?:[^']|'')*'/g;

/**
 * Begins the span of a statement, if it belongs to a recorded trace. The span has the statement's text without quoted contents and
 * parameters.
 */
export function traceStatement(query: unknown): OpenSpan | undefined {
  if (!isTraced()) return undefined;
  const text = textOf(query).replace(quoted, "'…'").slice(0, longestText);
  const [, operation = 'statement'] = /^\s*(\w+)/.exec(text) ?? [];
  const [, table] = tableOf.exec(text) ?? [];
  const summary = table === undefined ? operation : `${operation} ${table}`;
  return beginSpan(summary, {
    kind: 'client',
    attributes: { 'db.system.name': 'postgresql', 'db.query.summary': summary, 'db.query.text': text },
  });
}

function textOf(query: unknown): string {
  if (typeof query === 'string') return query;
  return typeof query === 'object' && query !== null && 'text' in query ? String(query.text) : '';
}
