import type { Db } from '../../db/connect.ts';
import type { ReplayFilter } from '../../workflows/definitions.ts';

/**
 * A page of failed jobs that match a replay's filter and have not been retried, in the order of their ids, which is the order
 * of their creation.
 */
export async function listReplayable(
  db: Db,
  filter: ReplayFilter,
  { after, limit }: { after: string | null; limit: number },
): Promise<string[]> {
  let query = db
    .selectFrom('job')
    .select('id')
    .where('status', '=', 'failed')
    .where(({ not, exists, selectFrom }) =>
      not(exists(selectFrom('job as retry').select('retry.id').whereRef('retry.retry_of', '=', 'job.id'))),
    )
    .orderBy('id')
    .limit(limit);
  if (after !== null) query = query.where('id', '>', after);
  if (filter.organizationId !== undefined) query = query.where('organization_id', '=', filter.organizationId);
  if (filter.kind !== undefined) query = query.where('kind', '=', filter.kind);
  if (filter.errorCode !== undefined) query = query.where('error_code', '=', filter.errorCode);
  if (filter.from !== undefined) query = query.where('finished_at', '>=', new Date(filter.from));
  if (filter.to !== undefined) query = query.where('finished_at', '<', new Date(filter.to));
  return (await query.execute()).map(({ id }) => id);
}
