import { setImmediate as nextTurn } from 'node:timers/promises';
import { z } from 'zod';

/** How long a page may be validated in one turn of the event loop, in milliseconds. */
const turnMs = 2;

/**
 * Parses a response as `schema.parse` does. The lists in it are parsed row by row, and a long one in several turns of the event loop, so that
 * other requests come between.
 */
export async function parseInTurns(schema: z.ZodType, output: unknown): Promise<unknown> {
  if (schema instanceof z.ZodArray && Array.isArray(output)) return await parseRows(schema.element as z.ZodType, output);
  if (!(schema instanceof z.ZodObject) || typeof output !== 'object' || output === null) return schema.parse(output);
  const lists = Object.entries(schema.shape).filter(([name, field]) => field instanceof z.ZodArray && Array.isArray(output[name as never]));
  if (lists.length === 0) return schema.parse(output);
  const parsed = { ...(schema.parse({ ...output, ...Object.fromEntries(lists.map(([name]) => [name, []])) }) as object) };
  for (const [name, field] of lists) {
    Object.assign(parsed, { [name]: await parseRows((field as z.ZodArray).element as z.ZodType, output[name as never]) });
  }
  return parsed;
}

async function parseRows(schema: z.ZodType, rows: unknown[]): Promise<unknown[]> {
  const parsed: unknown[] = [];
  let startedAt = performance.now();
  let long = false;
  for (const row of rows) {
    parsed.push(schema.parse(row));
    if (performance.now() - startedAt < turnMs) continue;
    long = true;
    await nextTurn();
    startedAt = performance.now();
  }
  // What comes next, the rendering of all of it, has a turn of its own.
  if (long) await nextTurn();
  return parsed;
}
