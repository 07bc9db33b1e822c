import type { Db } from '../../db/connect.ts';
import type { OutagePart } from '../../db/schema.ts';
import type { JobRow } from '../jobs/job.ts';

/** Whether a provider has answered the present attempt of a job: it was there, and was paid for that. */
export async function hasServed(
  db: Db,
  { id, organization_id: organizationId, started_at: startedAt }: Pick<JobRow, 'id' | 'organization_id' | 'started_at'>,
  part: OutagePart,
): Promise<boolean> {
  // The service itself is paid for nothing.
  if (part === 'ai-service') return false;
  const answered = db
    .selectFrom('provider_call')
    .select('id')
    .where('organization_id', '=', organizationId)
    .where('created_at', '>=', startedAt ?? new Date(0))
    .where('purpose_id', '=', id)
    .where('role', '=', part)
    .whereRef('calls', '>', 'unreported_calls')
    .limit(1);
  return (await answered.executeTakeFirst()) !== undefined;
}
