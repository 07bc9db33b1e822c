import { ApiError } from '../../contract/api-error.ts';
import { defaultOverlapSeconds } from '../../contract/api-keys.ts';
import { contract } from '../../contract/index.ts';
import type { Transaction } from '../../db/connect.ts';
import { inTransaction } from '../../db/transaction.ts';
import { getApiKey, listApiKeys } from '../../domain/api-keys/api-key.ts';
import { createApiKey } from '../../domain/api-keys/create-api-key.ts';
import { revokeApiKey } from '../../domain/api-keys/revoke-api-key.ts';
import { rotateApiKey } from '../../domain/api-keys/rotate-api-key.ts';
import { updateApiKey } from '../../domain/api-keys/update-api-key.ts';
import type { Actor } from '../../domain/audit.ts';
import { quoteName } from '../../domain/quote-name.ts';
import { noticeMail } from '../../domain/users/notice-mail.ts';
import { getWorkspace } from '../../domain/workspaces/workspace.ts';
import { keyOf } from '../caller.ts';
import type { ApiDeps } from '../deps.ts';
import { toApiKey, toCurrentKey } from '../presenters/api-key.ts';
import { procedure, type RequestInfo } from '../procedure.ts';

/** The operations of API keys. None takes an `Idempotency-Key`: a stored response would hold the secret. */
export function apiKeyProcedures({ db, writeMails }: ApiDeps) {
  /** Tells the member who is responsible for a new secret. */
  const tell = async (
    trx: Transaction,
    { email }: Actor,
    what: string,
    name: string,
    { clientAddress: address, userAgent }: RequestInfo,
  ) => {
    if (email !== null) await writeMails(trx, [noticeMail(email, `${what}: ${quoteName(name)}`, { address, userAgent })]);
  };
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

    create: procedure(contract.apiKeys.create, async ({ input, actor, request, authorize }) => {
      const { organizationId, workspaceId } = input;
      await authorize(organizationId);
      const workspace = workspaceId === undefined ? undefined : await getWorkspace(db, workspaceId);
      if (workspace && workspace.organization_id !== organizationId) throw new ApiError('FORBIDDEN');
      const { key, secret } = await inTransaction(db, async (trx) => {
        await tell(trx, actor, 'An API key was made', input.name, request);
        return createApiKey(trx, actor, input);
      });
      return { ...toApiKey(key), secret };
    }),

    update: procedure(contract.apiKeys.update, async ({ input, actor, authorize }) => {
      const key = await getApiKey(db, input.id);
      await authorize(key.organization_id);
      return toApiKey(await inTransaction(db, (trx) => updateApiKey(trx, actor, key, input)));
    }),

    rotate: procedure(contract.apiKeys.rotate, async ({ input, actor, request, authorize }) => {
      const { id, overlapSeconds = defaultOverlapSeconds } = input;
      const key = await getApiKey(db, id);
      await authorize(key.organization_id);
      const rotated = await inTransaction(db, async (trx) => {
        await tell(trx, actor, 'An API key has a new secret', key.name, request);
        return rotateApiKey(trx, actor, key, overlapSeconds);
      });
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
