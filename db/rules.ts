import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { type Kysely, sql } from 'kysely';
import { runScript } from './run-script.ts';

const folder = new URL('./rules/', import.meta.url);

/** The functions and triggers of the database in their present form: the text of each file of `db/rules`, by its name. */
export const rules: Record<string, string> = Object.fromEntries(
  readdirSync(folder)
    .filter((file) => file.endsWith('.sql'))
    .sort()
    .map((file) => [`rules/${file}`, readFileSync(new URL(file, folder), 'utf8')]),
);

/**
 * The files whose text was never applied to the database. An older text counts as applied, since an earlier version may start during a
 * rolling deploy.
 */
export async function findPendingRules<D>(db: Kysely<D>, shipped: Record<string, string> = rules): Promise<string[]> {
  const table = await sql<{ found: string | null }>`select to_regclass('database_rule')::text as found`.execute(db);
  if (!table.rows[0]?.found) return Object.keys(shipped);
  const { rows } = await sql<{ name: string; hash: string }>`select name, hash from database_rule`.execute(db);
  const applied = new Set(rows.map(({ name, hash }) => `${name} ${hash}`));
  return Object.keys(shipped).filter((name) => !applied.has(`${name} ${hashOf(shipped[name] ?? '')}`));
}

/** Runs a file in the transaction `trx`, and records that its text was applied. */
export async function applyRules<D>(trx: Kysely<D>, name: string, text: string): Promise<void> {
  // A function may call one from a later file.
  await sql`set local check_function_bodies = off`.execute(trx);
  await runScript(trx, text);
  await sql`insert into database_rule (name, hash) values (${name}, ${hashOf(text)})`.execute(trx);
}

function hashOf(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}
