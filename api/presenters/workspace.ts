import type { Plan } from '../../domain/billing/plan.ts';
import type { WorkspaceRow } from '../../domain/workspaces/workspace.ts';

/** A workspace as the API shows it. */
export function toWorkspace(workspace: WorkspaceRow) {
  return {
    id: workspace.id,
    organizationId: workspace.organization_id,
    teamId: workspace.team_id,
    name: workspace.name,
    slug: workspace.slug,
    autoProcess: workspace.auto_process,
    creditBudget: workspace.credit_budget,
    costBudgetMicros: workspace.cost_budget_micros,
    onDuplicate: workspace.on_duplicate,
    retention: { documents: null, texts: null, jobs: null, ...workspace.retention },
    createdAt: workspace.created_at.toISOString(),
  };
}

/** The bytes a workspace uses and may use; no limit while billing is off. */
export function toStorage(workspace: WorkspaceRow, plan: Plan | null) {
  return { usedBytes: workspace.used_bytes, limitBytes: plan?.limits.storageBytes ?? null };
}
