import { ApiError } from '../../contract/api-error.ts';
import type { AutomaticJobKind } from '../../contract/fields.ts';
import type { Transaction } from '../../db/connect.ts';
import { type Actor, recordAudit } from '../audit.ts';
import type { GetPlan } from '../billing/plan.ts';
import { newId } from '../ids.ts';
import { keepTeam, lockOrganization } from '../locks.ts';
import type { WorkspaceRow } from './workspace.ts';

interface NewWorkspace {
  organizationId: string;
  teamId?: string | null | undefined;
  name: string;
  slug: string;
  autoProcess?: AutomaticJobKind[] | undefined;
}

/** The maximum number of workspaces of an organization, whatever its plan: a list of them is one response. */
const maxWorkspaces = 5_000;

/** Adds a workspace. Throws LIMIT_REACHED, NOT_FOUND if the team is not the organization's, CONFLICT if the slug is taken. */
export async function createWorkspace(trx: Transaction, getPlan: GetPlan, actor: Actor, workspace: NewWorkspace): Promise<WorkspaceRow> {
  const { organizationId, name, slug, autoProcess = [] } = workspace;
  const teamId = workspace.teamId ?? null;
  await lockOrganization(trx, organizationId);
  if (teamId !== null) await keepTeam(trx, organizationId, teamId);
  await checkWorkspaceLimit(trx, getPlan, organizationId);
  const created = await trx
    .insertInto('workspace')
    .values({ id: newId(), organization_id: organizationId, team_id: teamId, name, slug, auto_process: autoProcess })
    .onConflict((conflict) => conflict.columns(['organization_id', 'slug']).doNothing())
    .returningAll()
    .executeTakeFirst();
  if (!created) throw slugTaken();
  await recordAudit(trx, actor, {
    organizationId,
    action: 'workspace.create',
    targetId: created.id,
    metadata: { name, slug, ...(autoProcess.length > 0 ? { autoProcess } : {}) },
  });
  return created;
}

export function slugTaken(): ApiError {
  return new ApiError('CONFLICT', { message: 'A workspace of this organization has this slug already.' });
}

async function checkWorkspaceLimit(trx: Transaction, getPlan: GetPlan, organizationId: string): Promise<void> {
  const plan = await getPlan(trx, organizationId);
  const { count } = await trx
    .selectFrom('workspace')
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .where('organization_id', '=', organizationId)
    .executeTakeFirstOrThrow();
  const limit = Math.min(plan?.limits.workspaces ?? maxWorkspaces, maxWorkspaces);
  if (count < limit) return;
  const message = limit === maxWorkspaces ? { message: `An organization has at most ${maxWorkspaces} workspaces.` } : {};
  throw new ApiError('LIMIT_REACHED', { ...message, data: { kind: 'workspaces', limit, plan: plan?.plan ?? 'free' } });
}
