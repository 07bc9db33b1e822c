import { sql } from 'kysely';
import type { AutomaticJobKind } from '../../contract/fields.ts';
import type { OnDuplicate } from '../../contract/workspaces.ts';
import type { Transaction } from '../../db/connect.ts';
import { type Actor, recordAudit } from '../audit.ts';
import { keepTeam, lockOrganization, lockWorkspace } from '../locks.ts';
import { slugTaken } from './create-workspace.ts';
import { type WorkspaceRow, workspaceNotFound } from './workspace.ts';

/** Undefined leaves a value as it is. A null `teamId` takes the workspace out of its team; a null budget is none. */
interface WorkspaceChange {
  name?: string | undefined;
  slug?: string | undefined;
  teamId?: string | null | undefined;
  autoProcess?: AutomaticJobKind[] | undefined;
  creditBudget?: number | null | undefined;
  onDuplicate?: OnDuplicate | undefined;
}

/**
 * Changes a workspace. Slugs are written only under the organization's lock, so that a free one cannot be taken meanwhile. Throws CONFLICT
 * if the slug is taken, NOT_FOUND if the team is not the organization's or the workspace is gone.
 */
export async function updateWorkspace(
  trx: Transaction,
  actor: Actor,
  { id, organization_id: organizationId }: Pick<WorkspaceRow, 'id' | 'organization_id'>,
  { name, slug, teamId, autoProcess, creditBudget, onDuplicate }: WorkspaceChange,
): Promise<WorkspaceRow> {
  await lockOrganization(trx, organizationId);
  if (typeof teamId === 'string') await keepTeam(trx, organizationId, teamId);
  const before = await lockWorkspace(trx, id, 'change');
  if (!before) throw workspaceNotFound();
  const wanted = {
    name: name ?? before.name,
    slug: slug ?? before.slug,
    team_id: teamId === undefined ? before.team_id : teamId,
    auto_process: autoProcess ?? before.auto_process,
    credit_budget: creditBudget === undefined ? before.credit_budget : creditBudget,
    on_duplicate: onDuplicate ?? before.on_duplicate,
  };
  const changed = (['name', 'slug', 'team_id', 'auto_process', 'credit_budget', 'on_duplicate'] as const).filter(
    (column) => JSON.stringify(wanted[column]) !== JSON.stringify(before[column]),
  );
  if (changed.length === 0) return before;
  if (changed.includes('slug')) await checkSlug(trx, organizationId, wanted.slug);
  const after = await trx
    .updateTable('workspace')
    .set({ ...wanted, updated_at: sql`clock_timestamp()` })
    .where('id', '=', id)
    .returningAll()
    .executeTakeFirstOrThrow();
  await recordAudit(trx, actor, {
    organizationId,
    action: 'workspace.update',
    targetType: 'workspace',
    targetId: id,
    metadata: Object.fromEntries(changed.map((column) => [labels[column], { from: before[column], to: after[column] }])),
  });
  return after;
}

const labels = {
  name: 'name',
  slug: 'slug',
  team_id: 'teamId',
  auto_process: 'autoProcess',
  credit_budget: 'creditBudget',
  on_duplicate: 'onDuplicate',
};

async function checkSlug(trx: Transaction, organizationId: string, slug: string): Promise<void> {
  const taken = await trx
    .selectFrom('workspace')
    .select('id')
    .where('organization_id', '=', organizationId)
    .where('slug', '=', slug)
    .executeTakeFirst();
  if (taken) throw slugTaken();
}
