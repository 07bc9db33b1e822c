import { sql } from 'kysely';
import { runHousekeeping } from '../count.ts';
import type { Fault } from '../fault.ts';

/**
 * The finished jobs, abandoned uploads and audit entries of the first tenant are dated back past their retention, and housekeeping
 * runs: it must remove all of them, and nothing of the other tenants.
 */
export const retention: Fault = {
  name: 'retention',
  runs: { full: 1, short: 1 },
  async inject({ service, tenants }) {
    const { db } = service;
    const [tenant] = tenants;
    if (!tenant) return undefined;
    const mine = tenant.organizationId;
    const { document: abandoned } = await tenant.beginUpload(1_000);
    await sql`update document set created_at = now() - interval '25 hours' where id = ${abandoned.id}`.execute(db);
    const { rows: old } = await sql<{ id: string }>`
      update job set finished_at = now() - interval '31 days' where organization_id = ${mine} and finished_at is not null returning id
    `.execute(db);
    const { rows: audit } = await sql<{ id: string }>`
      update audit_entry set created_at = now() - interval '101 days' where organization_id = ${mine} returning id
    `.execute(db);
    await runHousekeeping(service, 'retention');
    const left = await sql<{ left: number }>`
      select (select count(*) from job where id = any(${old.map(({ id }) => id)}))
        + (select count(*) from audit_entry where id = any(${audit.map(({ id }) => id)}))
        + (select count(*) from document where id = ${abandoned.id}) as left
    `.execute(db);
    for (const { id } of old) tenant.accepted.delete(id);
    return { stuck: left.rows[0]?.left ?? 0 };
  },
};
