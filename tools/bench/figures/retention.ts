import { Client, Connection } from '@temporalio/client';
import { type Measure, toFigure } from '../support/figure.ts';

/** Housekeeping over a million expired rows: its longest statement, and the growth of the API's memory. */
export const retention: Measure = async (service, { quick }) => {
  const expired = quick ? 100_000 : 1_000_000;
  const name = `housekeeping, ${expired.toLocaleString('en')} rows`;
  await service.pool.query(
    `insert into audit_entry (id, organization_id, action, target_type, target_id, created_at)
     select 'old-' || n, $1, 'document.create', 'document', 'none', now() - interval '400 days' from generate_series(1, $2::int) n`,
    [service.organizationId, expired],
  );
  await service.pool.query('vacuum analyze audit_entry');
  const connection = await Connection.connect({ address: service.stack.temporalAddress });
  const { workflow } = new Client({ connection });
  const idleMb = service.memoryMb();
  let peakMb = idleMb;
  let longestMs = 0;
  const sampler = setInterval(() => {
    peakMb = Math.max(peakMb, service.memoryMb());
    void service.pool
      .query(
        `select max(extract(epoch from clock_timestamp() - query_start)) * 1000 as ms from pg_stat_activity where state = 'active' and query like '%delete from%' and pid <> pg_backend_pid()`,
      )
      .then(({ rows }) => {
        longestMs = Math.max(longestMs, Number(rows[0]?.ms ?? 0));
      });
  }, 50);
  try {
    const result: { auditEntries: number } = await workflow.execute('housekeeping', {
      taskQueue: 'sheaf',
      workflowId: `housekeeping-bench-${Date.now()}`,
    });
    if (result.auditEntries !== expired) throw new Error(`housekeeping removed ${result.auditEntries} entries`);
  } finally {
    clearInterval(sampler);
    await connection.close();
  }
  return [
    toFigure(`${name}: longest statement`, { value: longestMs, unit: 'ms' }, { atMost: 1_000 }),
    toFigure(`${name}: memory growth`, { value: peakMb - idleMb, unit: 'MB' }, { atMost: 50 }),
  ];
};
