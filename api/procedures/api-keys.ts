import { ApiError } from '../../contract/api-error.ts';
import { defaultOverlapSeconds } from '../../contract/api-keys.ts';
import { contract } from '../../contract/index.ts';
import { inTransaction } from '../../db/transaction.ts';
import { getApiKey, listApiKeys } from '../../domain/api-keys/api-key.ts';
import { createApiKey } from '../../domain/api-keys/create-api-key.ts';
import { revokeApiKey } from '../../domain/api-keys/revoke-api-key.ts';
import { rotateApiKey } from '../../domain/api-keys/rotate-api-key.ts';
import { updateApiKey } from '../../domain/api-keys/update-api-key.ts';
import { getWorkspace } from '../../domain/workspaces/workspace.ts';
import { keyOf } from '../caller.ts';
import type { ApiDeps } from '../deps.ts';
import { toApiKey, toCurrentKey } from '../presenters/api-key.ts';
import { procedure } from '../procedure.ts';

/** The operations of API keys. None takes an `Idempotency-Key`: a stored response would hold the secret. */
export function apiKeyProcedures({ db }: ApiDeps) {
  return {
    list: procedure(contract.apiKeys.list, async ({ input, authorize }) => {
      await authorize(input.organizationId);
      return (await listApiKeys(db, input.organizationId)).map(toApiKey);
    }),

    current: procedure(contract.apiKeys.current, async ({ caller, authorize }) => {
      const key = keyOf(caller);
      await authorize(key.organizationId, key.workspaceId);
      return toCurrentKey(key);
    }),

    create: procedure(contract.apiKeys.create, async ({ input, actor, authorize }) => {
      const { organizationId, workspaceId } = input;
      await authorize(organizationId);
      const workspace = workspaceId === undefined ? undefined : await getWorkspace(db, workspaceId);
      if (workspace && workspace.organization_id !== organizationId) throw new ApiError('FORBIDDEN');
      const { key, secret } = await inTransaction(db, (trx) => createApiKey(trx, actor, input));
      return { ...toApiKey(key), secret };
    }),

    update: procedure(contract.apiKeys.update, async ({ input, actor, authorize }) => {
      const key = await getApiKey(db, input.id);
      await authorize(key.organization_id);
      return toApiKey(await inTransaction(db, (trx) => updateApiKey(trx, actor, key, input)));
    }),

    rotate: procedure(contract.apiKeys.rotate, async ({ input, actor, authorize }) => {
      const { id, overlapSeconds = defaultOverlapSeconds } = input;
      const key = await getApiKey(db, id);
      await authorize(key.organization_id);
      const rotated = await inTransaction(db, (trx) => rotateApiKey(trx, actor, key, overlapSeconds));
      return { ...toApiKey(rotated.key), secret: rotated.secret };
    }),

    revoke: procedure(contract.apiKeys.revoke, async ({ input, actor, authorize }) => {
      const key = await getApiKey(db, input.id);
      await authorize(key.organization_id);
      await inTransaction(db, (trx) => revokeApiKey(trx, actor, key));
      return { id: key.id };
    }),
  };
}
