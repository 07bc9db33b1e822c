import { sql } from 'kysely';
import type { AutomaticJobKind } from '../../contract/fields.ts';
import { type OnDuplicate, type RetentionKind, retentionKinds } from '../../contract/workspaces.ts';
import type { Transaction } from '../../db/connect.ts';
import type { Retention } from '../../db/schema.ts';
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
  costBudgetMicros?: number | null | undefined;
  onDuplicate?: OnDuplicate | undefined;
  /** What is absent stays as it is; null ends it. */
  retention?: Partial<Record<RetentionKind, number | null | undefined>> | undefined;
}

/**
 * Changes a workspace. Slugs are written only under the organization's lock, so that a free one cannot be taken meanwhile. Throws CONFLICT
 * if the slug is taken, NOT_FOUND if the team is not the organization's or the workspace is gone.
 */
export async function updateWorkspace(
  trx: Transaction,
  actor: Actor,
  { id, organization_id: organizationId }: Pick<WorkspaceRow, 'id' | 'organization_id'>,
  { name, slug, teamId, autoProcess, creditBudget, costBudgetMicros, onDuplicate, retention }: WorkspaceChange,
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
    cost_budget_micros: costBudgetMicros === undefined ? before.cost_budget_micros : costBudgetMicros,
    on_duplicate: onDuplicate ?? before.on_duplicate,
    retention: changedRetention(before.retention, retention),
  };
  const changed = (Object.keys(labels) as (keyof typeof labels)[]).filter(
    (column) => JSON.stringify(wanted[column]) !== JSON.stringify(before[column]),
  );
  if (changed.length === 0) return before;
  if (changed.includes('slug')) await checkSlug(trx, organizationId, wanted.slug);
  const after = await trx
    .updateTable('workspace')
    .set({ ...wanted, retention: JSON.stringify(wanted.retention), updated_at: sql`clock_timestamp()` })
    .where('id', '=', id)
    .returningAll()
    .executeTakeFirstOrThrow();
  await recordAudit(trx, actor, {
    organizationId,
    action: 'workspace.update',
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
  cost_budget_micros: 'costBudgetMicros',
  on_duplicate: 'onDuplicate',
  retention: 'retention',
};

/** The same object if nothing changes: the database orders its keys in its own way. */
function changedRetention(before: Retention, change: WorkspaceChange['retention'] = {}): Retention {
  const after = retentionKinds.map((kind) => [kind, change[kind] === undefined ? before[kind] : (change[kind] ?? undefined)] as const);
  if (after.every(([kind, days]) => before[kind] === days)) return before;
  return Object.fromEntries(after.filter(([, days]) => days !== undefined));
}

async function checkSlug(trx: Transaction, organizationId: string, slug: string): Promise<void> {
  const taken = await trx
    .selectFrom('workspace')
    .select('id')
    .where('organization_id', '=', organizationId)
    .where('slug', '=', slug)
    .executeTakeFirst();
  if (taken) throw slugTaken();
}
