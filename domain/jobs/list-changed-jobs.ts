import { sql } from 'kysely';
import { type Db, longestTransactionMs } from '../../db/connect.ts';
import type { JobRow } from './job-row.ts';

/** Jobs by id, for the events of a stream. */
export async function listJobsById(db: Db, jobIds: string[]): Promise<JobRow[]> {
  return db.selectFrom('job').selectAll().where('id', 'in', jobIds).orderBy('updated_at').execute();
}

/**
 * A page of an organization's jobs that changed since a moment, oldest change first. The first page begins earlier by the
 * longest permitted transaction, since one that began before may have committed after (rule 10).
 */
export async function listChangedJobs(
  db: Db,
  { organizationId, since, after, limit }: { organizationId: string; since: Date; after: JobRow | undefined; limit: number },
): Promise<JobRow[]> {
  let query = db
    .selectFrom('job')
    .selectAll()
    .where('organization_id', '=', organizationId)
    .orderBy('updated_at')
    .orderBy('id')
    .limit(limit);
  if (after) query = query.where(sql<boolean>`(updated_at, id) > (${after.updated_at}, ${after.id})`);
  else query = query.where('updated_at', '>=', new Date(since.getTime() - longestTransactionMs));
  return query.execute();
}
