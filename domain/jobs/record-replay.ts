import type { Db } from '../../db/connect.ts';
import { inTransaction } from '../../db/transaction.ts';
import type { ReplayInput } from '../../workflows/definitions.ts';
import { systemActor } from '../actor.ts';
import { recordAudit } from '../audit/record-audit.ts';

/** Writes the audit entry of a replay before it retries anything: once for each replay, however often it is attempted. */
export async function recordReplay(db: Db, { replayRun, input }: { replayRun: string; input: ReplayInput }): Promise<void> {
  const { progress: _, ...metadata } = input;
  const event = {
    organizationId: input.organizationId ?? null,
    action: 'job.replay',
    targetType: 'replay',
    targetId: replayRun,
    metadata,
  };
  await inTransaction(db, async (trx) => {
    const recorded = await trx
      .selectFrom('audit_entry')
      .select('id')
      .where('target_id', '=', replayRun)
      .where('action', '=', 'job.replay')
      .executeTakeFirst();
    if (!recorded) await recordAudit(trx, { ...systemActor, email: input.requestedBy ?? null }, event);
  });
}
