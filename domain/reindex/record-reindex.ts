import type { ReindexInput } from '../../contract/intents/inputs.ts';
import type { Db } from '../../db/connect.ts';
import { inTransaction } from '../../db/transaction.ts';
import { recordAudit, systemActor } from '../audit.ts';
import { deriveId } from '../ids.ts';

/** Writes the audit entry of a re-embedding, before it begins. A second call for the same run changes nothing. */
export async function recordReindex(db: Db, { run, input }: { run: string; input: ReindexInput }): Promise<void> {
  const { progress: _, target: __, ...metadata } = input;
  const event = {
    id: deriveId(`document.reindex ${run}`),
    organizationId: input.organizationId ?? null,
    action: 'document.reindex',
    targetType: 'reindex',
    targetId: run,
    metadata,
  };
  await inTransaction(db, (trx) => recordAudit(trx, { ...systemActor, email: input.requestedBy ?? null }, event));
}
