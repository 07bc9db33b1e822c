import { globSync, statSync, utimesSync } from 'node:fs';
import { join } from 'node:path';
import { sql } from 'kysely';
import { checkLedger } from '../../../domain/credits/check-ledger.ts';
import type { Service } from './service.ts';
import type { Tenant } from './tenant.ts';
import { listFinalTwice } from './watch-effects.ts';

export interface Counts {
  /** Accepted jobs that are absent. */
  lost: number;
  /** Effects that happened more than once: charges, refunds, final states of a job, chunks of a document, jobs of one request. */
  duplicated: number;
  ledgerOff: number;
  /** Objects without a row, and documents without their object. */
  orphans: number;
}

/** Counts what a fault left behind, after recovery. */
export async function count(service: Service, tenants: Tenant[]): Promise<Counts> {
  const { db } = service;
  const present = new Set((await db.selectFrom('job').select('id').execute()).map(({ id }) => id));
  const accepted = new Set(tenants.flatMap((tenant) => [...tenant.accepted]));
  const unasked = present.difference(accepted).size;
  const { rows } = await sql<{ entries: number; chunks: number }>`
    select
      (select count(*) from (
        select from credit_entry where job_id is not null group by job_id, sign(amount) having count(*) > 1
      ) as twice) as entries,
      (select count(*) from (
        select from document left join chunk on chunk.document_id = document.id
        group by document.id having count(chunk.id) <> coalesce(document.chunk_count, 0)
      ) as off) as chunks
  `.execute(db);
  const { entries = 0, chunks = 0 } = rows[0] ?? {};
  return {
    lost: accepted.difference(present).size,
    duplicated: unasked + entries + chunks + (await listFinalTwice(db)).length,
    ledgerOff: (await checkLedger(db)).length,
    orphans: await countOrphans(service),
  };
}

async function countOrphans({ db, objectsDirectory }: Service): Promise<number> {
  const rows = await db.selectFrom('document').select(['object_key', 'status']).execute();
  const known = new Set(rows.map(({ object_key }) => object_key));
  const stored = new Set(listObjects(objectsDirectory));
  const withoutObject = rows.filter(({ object_key, status }) => status === 'ready' && !stored.has(object_key));
  return stored.difference(known).size + withoutObject.length;
}

/** Runs the daily housekeeping as if every object were two days old, because it spares recent objects. */
export async function runHousekeeping({ temporal, objectsDirectory }: Service, name: string): Promise<void> {
  const old = new Date(Date.now() - 2 * 24 * 60 * 60 * 1_000);
  for (const key of listObjects(objectsDirectory)) utimesSync(join(objectsDirectory, key), old, old);
  const workflowId = `housekeeping-${name}-${Date.now()}`;
  await temporal.workflow.execute('housekeeping', { taskQueue: 'sheaf', workflowId, args: [] });
}

function listObjects(directory: string): string[] {
  return globSync('*/*', { cwd: directory }).filter((key) => !key.startsWith('.') && statSync(join(directory, key)).isFile());
}
