import type { AutomaticJobKind } from '../../contract/fields.ts';
import { contract } from '../../contract/index.ts';
import { noSuchAutomaticKind, type RetentionKind } from '../../contract/workspaces.ts';
import { inTransaction } from '../../db/transaction.ts';
import { findHold } from '../../domain/holds/legal-hold.ts';
import { createWorkspace } from '../../domain/workspaces/create-workspace.ts';
import { deleteWorkspace } from '../../domain/workspaces/delete-workspace.ts';
import { countDue, listDue } from '../../domain/workspaces/due-rows.ts';
import { updateWorkspace } from '../../domain/workspaces/update-workspace.ts';
import { getWorkspace, getWorkspaceBySlug, listWorkspaces } from '../../domain/workspaces/workspace.ts';
import { checkPermission, workspaceOf } from '../caller.ts';
import type { ApiDeps } from '../deps.ts';
import { refuseMissing } from '../extra-kinds.ts';
import { invalidInput } from '../http/errors.ts';
import { withIdempotency } from '../idempotency.ts';
import { toStorage, toWorkspace } from '../presenters/workspace.ts';
import { procedure } from '../procedure.ts';

/** A budget in money counts nothing without prices. */
const noPrices = { path: ['costBudgetMicros'], message: 'needs the prices of providers, which this deployment does not have' };

export function workspaceProcedures({ db, getPlan, config }: ApiDeps) {
  return {
    list: procedure(contract.workspaces.list, async ({ input, caller, authorize }) => {
      const only = workspaceOf(caller);
      await authorize(input.organizationId, only);
      const workspaces = await listWorkspaces(db, input.organizationId);
      return workspaces.filter(({ id }) => only === undefined || id === only).map(toWorkspace);
    }),

    get: procedure(contract.workspaces.get, async ({ input, caller, authorize }) => {
      await authorize(input.organizationId, workspaceOf(caller));
      const workspace = await getWorkspaceBySlug(db, input.organizationId, input.slug);
      await authorize(input.organizationId, workspace.id);
      return { ...toWorkspace(workspace), storage: toStorage(workspace, await getPlan(db, input.organizationId)) };
    }),

    create: procedure(contract.workspaces.create, async (context) => {
      const { input, caller, actor, authorize } = context;
      const { organizationId, autoProcess = [] } = input;
      return withIdempotency(db, contract.workspaces.create, context, async (once) => {
        await authorize(organizationId);
        if (autoProcess.length > 0) checkPermission(caller, { organizationId, workspaceId: null }, 'job:create');
        checkKinds(autoProcess);
        return once(async (trx) => toWorkspace(await createWorkspace(trx, getPlan, actor, input)));
      });
    }),

    update: procedure(contract.workspaces.update, async ({ input, caller, actor, authorize }) => {
      const workspace = await getWorkspace(db, input.id);
      const { id: workspaceId, organization_id: organizationId } = workspace;
      await authorize(organizationId, workspaceId);
      if (input.autoProcess?.length) checkPermission(caller, { organizationId, workspaceId }, 'job:create');
      checkKinds(input.autoProcess);
      if (input.creditBudget !== undefined || input.costBudgetMicros !== undefined)
        checkPermission(caller, { organizationId, workspaceId }, 'billing:manage');
      if (typeof input.costBudgetMicros === 'number' && !config.prices) throw invalidInput([noPrices]);
      if (input.retention) checkPermission(caller, { organizationId, workspaceId }, 'workspace:delete');
      return toWorkspace(await inTransaction(db, (trx) => updateWorkspace(trx, actor, workspace, input)));
    }),

    due: procedure(contract.workspaces.due, async ({ input, authorize }) => {
      const { id: workspaceId, organization_id: organizationId, retention } = await getWorkspace(db, input.id);
      await authorize(organizationId, workspaceId);
      const dueOf = async (kind: RetentionKind) => {
        const days = input[kind] ?? retention[kind];
        if (days === undefined) return { count: 0, oldest: null, ids: [] };
        const { count, oldest } = await countDue(db, { workspaceId, kind, days });
        const first = await listDue(db, { workspaceId, kind, days, limit: 10 });
        return { count, oldest: oldest?.toISOString() ?? null, ids: first.map(({ id }) => id) };
      };
      const hold = await findHold(db, organizationId, workspaceId);
      return {
        ...{ documents: await dueOf('documents'), texts: await dueOf('texts'), jobs: await dueOf('jobs') },
        ...(hold && { hold: { reason: hold.reason, since: hold.since.toISOString() } }),
      };
    }),

    delete: procedure(contract.workspaces.delete, async ({ input, actor, authorize }) => {
      const workspace = await getWorkspace(db, input.id);
      await authorize(workspace.organization_id, workspace.id);
      await inTransaction(db, (trx) => deleteWorkspace(trx, actor, workspace));
      return { id: workspace.id };
    }),
  };

  /** Throws BAD_REQUEST if one is a kind of job that this deployment does not have. */
  function checkKinds(kinds: AutomaticJobKind[] = []): void {
    for (const [index, kind] of kinds.entries())
      refuseMissing(config, kind, { path: ['autoProcess', index], message: noSuchAutomaticKind });
  }
}
