import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { type Kysely, sql } from 'kysely';
import { runScript } from './run-script.ts';

const folder = new URL('./triggers/', import.meta.url);

/** The functions and triggers of the database in their present form: the text of each file of `db/triggers`, by its name. */
export const triggers: Record<string, string> = Object.fromEntries(
  readdirSync(folder)
    .filter((file) => file.endsWith('.sql'))
    .sort()
    .map((file) => [`triggers/${file}`, readFileSync(new URL(file, folder), 'utf8')]),
);

/** The files of triggers that a version of the service ships. */
interface ShippedTriggers {
  files: Record<string, string>;
  version: string;
}

const { version } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')) as { version: string };

export const shippedTriggers: ShippedTriggers = { files: triggers, version };

/** The files whose text is not that of the database, unless a later version brought that: both may run during a rolling deploy. */
export async function findPendingTriggers<D>(db: Kysely<D>, shipped = shippedTriggers): Promise<string[]> {
  const table = await sql<{ found: string | null }>`select to_regclass('database_rule')::text as found`.execute(db);
  if (!table.rows[0]?.found) return Object.keys(shipped.files);
  const { rows } = await sql<AppliedFile>`select name, hash, version from database_rule`.execute(db);
  const isKept = (text: string, applied: AppliedFile) => applied.hash === hashOf(text) || isLater(applied.version, shipped.version);
  return Object.entries(shipped.files)
    .filter(([name, text]) => !rows.some((applied) => applied.name === name && isKept(text, applied)))
    .map(([name]) => name);
}

/** Runs a file in the transaction `trx`, and records its text. */
export async function applyTriggers<D>(trx: Kysely<D>, name: string, { files, version: ofVersion }: ShippedTriggers): Promise<void> {
  const text = files[name] ?? '';
  // A function may call one from a later file.
  await sql`set local check_function_bodies = off`.execute(trx);
  await runScript(trx, text);
  await sql`
    insert into database_rule (name, hash, version) values (${name}, ${hashOf(text)}, ${ofVersion})
    on conflict (name) do update set hash = excluded.hash, version = excluded.version, applied_at = now()
  `.execute(trx);
}

interface AppliedFile {
  name: string;
  hash: string;
  version: string;
}

/** Whether a version such as `1.10.0` comes after another. */
function isLater(one: string, other: string): boolean {
  return one.localeCompare(other, 'en', { numeric: true }) > 0;
}

function hashOf(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}
