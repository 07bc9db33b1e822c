import { readFileSync } from 'node:fs';
import type { Kysely } from 'kysely';
import { runScript } from '../run-script.ts';

/** The tables of webhooks. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await runScript(db, readFileSync(new URL('./0003-webhooks.sql', import.meta.url), 'utf8'));
}
