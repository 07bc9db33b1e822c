import { sql } from 'kysely';
import type { Db } from '../../../db/connect.ts';
import { inTransaction } from '../../../db/transaction.ts';

/** The organization with most of the rows. The others are `small-1` and so on. */
export const large = 'large';
const smallOrganizations = 500;

/**
 * Fills the tables that grow with use: `rows` jobs, with their entries in the ledger and the audit log, and a tenth of other things. Triggers
 * and foreign keys are not run, which would take most of the time.
 */
export async function fillTables(db: Db, rows: number): Promise<void> {
  await inTransaction(db, async (trx) => {
    await sql`set local session_replication_role = replica`.execute(trx);
    await sql`set local statement_timeout = 0`.execute(trx);
    for (const statement of statementsFor(rows)) await sql.raw(statement).execute(trx);
  });
  for (const table of [...filledTables, 'member']) await sql`vacuum analyze ${sql.table(table)}`.execute(db);
}

/** Gives each organization an API key. Apart from the rest, since the first schema has no table of them. */
export async function fillApiKeys(db: Db): Promise<void> {
  await inTransaction(db, async (trx) => {
    await sql`set local session_replication_role = replica`.execute(trx);
    await sql
      .raw(`insert into api_key (id, organization_id, responsible_id, name, permissions, requests_per_minute, prefix, hash, previous_hash,
        previous_expires_at, last_used_at)
      select 'key_' || n, organization.id, 'user-1', 'Key', '{job:read}', 600, 'sheaf_0000', 'new-' || n, 'old-' || n, now() + interval '1 day',
        now() + interval '1 day'
      from (select id, row_number() over (order by id) as n from organization) as organization`)
      .execute(trx);
  });
  await sql`vacuum analyze api_key`.execute(db);
}

/** Records what providers did. Apart from the rest, too. */
export async function fillProviderCalls(db: Db, rows: number): Promise<void> {
  await inTransaction(db, async (trx) => {
    await sql`set local session_replication_role = replica`.execute(trx);
    await sql
      .raw(`insert into provider_call (organization_id, workspace_id, purpose, role, model, unreported_calls, input_tokens, created_at)
      select ${organizationOf}, 'workspace-' || n % 100, 'job', 'chat', 'talker', 0, 10, now() - (${rows} - n) * interval '1 second' from generate_series(1, ${rows}) as series (n)`)
      .execute(trx);
  });
  await sql`vacuum analyze provider_call`.execute(db);
}

/** Lists versions of documents. Apart from the rest, too. */
export async function fillVersions(db: Db, rows: number): Promise<void> {
  await inTransaction(db, async (trx) => {
    await sql`set local session_replication_role = replica`.execute(trx);
    await sql
      .raw(`insert into document_version (document_id, number, size_bytes, created_at, object_key)
      select 'document-' || n, 2, 1, now(), '${large}/version-' || n from generate_series(1, ${rows}) as series (n)`)
      .execute(trx);
  });
  await sql`vacuum analyze document_version`.execute(db);
}

/** The tables that must not be read from end to end. */
export const filledTables = [
  'job',
  'audit_entry',
  'credit_entry',
  'document',
  'organization',
  'object_to_delete',
  'idempotency_key',
  'session',
];

const organizationOf = `case when n % 5 < 3 then '${large}' else 'small-' || (n % ${smallOrganizations} + 1) end`;
const status = `case when n % 50 = 0 then 'failed' when n % 51 = 0 then 'canceled' when n % 5003 = 0 then 'queued' when n % 9001 = 0 then 'running' else 'succeeded' end`;
const finished = `status in ('succeeded', 'failed', 'canceled')`;

function statementsFor(rows: number): string[] {
  const series = (count: number) => `generate_series(1, ${Math.ceil(count)}) as series (n)`;
  return [
    `insert into organization (id, name, slug)
       select case when n = 0 then '${large}' else 'small-' || n end, 'Organization ' || n, 'organization-' || n
       from generate_series(0, ${Math.max(smallOrganizations, Math.ceil(rows / 10))}) as series (n)`,
    `insert into "user" (id, name, email) select 'user-' || n, 'User', 'user-' || n || '@example.com' from ${series(rows / 100)}`,
    `insert into session (id, token, "userId", "expiresAt") select 's' || n, 's' || n, 'user-' || n, now() + interval '1 day' from ${series(rows / 100)}`,
    `insert into job (id, organization_id, workspace_id, document_id, former_workspace_id, kind, status, input, error_code, error_message,
         max_attempts, credits, credit_month, created_by, created_at, started_at, finished_at, updated_at, retry_of)
       select lpad(n::text, 12, '0'), organization, 'workspace-' || n % 1000, 'document-' || n % 20000, case when n % 1000 = 7 then 'gone-' || n % 7000 end,
         case when n % 2 = 0 then 'document.extract' else 'text.embed' end, status, '{"texts":["a"]}',
         case when status = 'failed' then 'ai_failed' end, null, 4, 1, '2026-11-01', 'user-' || n % 1000, at, case when status <> 'queued' then at end,
         case when ${finished} then at end, at, case when n % 999 = 0 then lpad((n - 50)::text, 12, '0') end
       from (select n, ${organizationOf} as organization, ${status} as status, now() - (${rows} - n) * interval '1 second' as at from ${series(rows)}) as made`,
    `insert into credit_entry (organization_id, key, amount, month, job_id, reason)
       select organization_id, 'job:' || id || ':charge', credits, credit_month, id, kind from job
       union all
       select organization_id, 'job:' || id || ':refund', -credits, credit_month, id, 'failed' from job where status in ('failed', 'canceled')`,
    `insert into credit_month (organization_id, month, used) select organization_id, month, sum(amount) from credit_entry group by 1, 2`,
    `insert into audit_entry (id, organization_id, actor_id, action, target_type, target_id, metadata, created_at)
       select 'a' || lpad(n::text, 12, '0'), case when n % 100 <> 0 then ${organizationOf} end, 'user-' || n % 1000, 'job.create', 'job', lpad(n::text, 12, '0'), '{"kind":"text.embed"}',
         now() - (${rows} - n) * interval '1 second'
       from ${series(rows)}`,
    `insert into document (id, organization_id, workspace_id, name, content_type, size_bytes, status, object_key, created_at)
       select 'document-' || n, ${organizationOf}, 'workspace-' || n % 1000, 'note.txt', 'text/plain', 1, 'ready', 'key-' || n, now() - n * interval '1 second'
       from ${series(rows / 5)}`,
    `insert into object_to_delete (key, organization_id, attempts, created_at)
       select 'key-' || n, ${organizationOf}, (n % 100 = 0)::int, now() - n * interval '1 second' from ${series(rows / 5)}`,
    `insert into idempotency_key (user_id, operation, key, request_hash, response)
       select 'user-' || n % 1000, 'jobs.create', 'k' || n, 'h', jsonb_build_object('organizationId', ${organizationOf}) from ${series(rows / 10)}`,
    `insert into member (id, "organizationId", "userId") select 'member-' || id, id, 'user-1' from organization`,
  ];
}
