import type { CallRecord, RecordedCall } from '../../adapters/ai-service/port.ts';
import type { ProviderUsage } from '../../contract/ai-service/usage.ts';
import type { Db } from '../../db/connect.ts';

/**
 * Records the calls of providers in statements of their own, outside of the transaction that stores a result: the call of an attempt that
 * fails was paid for, too. `onUnstored` is told of a use that could not be stored, which stays unknown.
 */
export function createCallRecord(db: Db, onUnstored: (error: unknown) => void): CallRecord {
  return {
    async begin(call) {
      const { id } = await db.insertInto('provider_call').values(toRow(call)).returning('id').executeTakeFirstOrThrow();
      return id;
    },
    async end(begun, call, used) {
      await store(db, begun, call, used).catch(onUnstored);
    },
  };
}

async function store(db: Db, begun: number | undefined, call: RecordedCall, used: ProviderUsage | null): Promise<void> {
  if (!used) {
    if (begun !== undefined) await db.deleteFrom('provider_call').where('id', '=', begun).execute();
    return;
  }
  const { role, model, calls, unreported, input, cached, output } = used;
  const tokens = { input_tokens: input, cached_tokens: cached, output_tokens: output };
  const found = { role, model, calls, unreported_calls: unreported, ...tokens };
  if (begun === undefined)
    await db
      .insertInto('provider_call')
      .values({ ...toRow(call), ...found })
      .execute();
  else await db.updateTable('provider_call').set(found).where('id', '=', begun).execute();
}

/** A call whose use is unknown. Of who wanted it, only an API key is kept, since it is no person. */
function toRow({ organizationId, role, purpose, purposeId, attempt, workspaceId, documentId, actorId }: RecordedCall) {
  return {
    organization_id: organizationId,
    workspace_id: workspaceId ?? null,
    document_id: documentId ?? null,
    api_key_id: actorId?.startsWith('key_') ? actorId : null,
    purpose: purpose ?? ('other' as const),
    purpose_id: purposeId ?? null,
    attempt: attempt ?? null,
    role,
  };
}
