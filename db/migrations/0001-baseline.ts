import { readFileSync } from 'node:fs';
import type { Kysely } from 'kysely';
import { runScript } from '../run-script.ts';

/** The tables of the first release. What changes them later is a migration of its own; functions and triggers are in `db/triggers`. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await runScript(db, readFileSync(new URL('./0001-baseline.sql', import.meta.url), 'utf8'));
}
