import {
  attemptTimeoutMs,
  type JobState,
  type MoneyState,
  monthOf,
  type planLimits,
  type SearchState,
  type SubscriptionState,
  searchLostMs,
  type WorkspaceState,
} from './money-state.ts';
import { bytesOf, creditsUsed, limitsOf, memberCount, pendingOf, planOf, usedBy } from './money-view.ts';

/** What the service must refuse with: a code, and the limit for LIMIT_REACHED. */
export type Refusal =
  | { code: 'LIMIT_REACHED'; kind: string; limit: number; plan: string; scope?: string }
  | { code: 'CONFLICT' | 'NOT_FOUND' };

type Limit = keyof (typeof planLimits)['free'];

function beyond(state: MoneyState, kind: Limit, wanted: number): Refusal | undefined {
  const plan = planOf(state);
  if (plan === null) return undefined;
  const limit = limitsOf(state, plan)[kind];
  if (wanted <= limit) return undefined;
  const scope = kind === 'aiCredits' ? { scope: 'organization' } : {};
  return { code: 'LIMIT_REACHED', kind, limit, plan, ...scope };
}

/** Why credits cannot be charged now; undefined if they can. */
export function refusesCharge(state: MoneyState, credits: number, workspaceId: string | null): Refusal | undefined {
  const budget = state.workspaces.find(({ id }) => id === workspaceId)?.budget ?? null;
  if (budget !== null && budget < usedBy(state, workspaceId) + credits) {
    const plan = planOf(state) ?? 'free';
    return { code: 'LIMIT_REACHED', kind: 'aiCredits', limit: budget, plan, scope: 'workspace' };
  }
  return beyond(state, 'aiCredits', creditsUsed(state) + credits);
}

export function addJob(state: MoneyState, job: Pick<JobState, 'id' | 'credits' | 'maxAttempts' | 'workspaceId' | 'retryOf'>): void {
  const begun = { status: 'queued', attempts: 0, holder: null, startedAt: 0, inputGone: false } as const;
  state.jobs.push({ ...job, ...begun, chargedTo: job.workspaceId, month: monthOf(state.now) });
}

export function refusesCancel(job: JobState): Refusal | undefined {
  return job.status === 'queued' ? undefined : { code: 'CONFLICT' };
}

export function refusesRetry(state: MoneyState, job: JobState): Refusal | undefined {
  if (job.status !== 'failed') return { code: 'CONFLICT' };
  return job.inputGone ? { code: 'NOT_FOUND' } : refusesCharge(state, job.credits, job.workspaceId);
}

/** An attempt begins, if the job waits for one; whether it did. */
export function beginAttempt(state: MoneyState, job: JobState, attempt: string): boolean {
  if (job.status !== 'queued') return false;
  Object.assign(job, { status: 'running', attempts: job.attempts + 1, holder: attempt, startedAt: state.now });
  return true;
}

/** An attempt has its result, which counts if the job is still its own; whether it did. */
export function succeed(job: JobState, attempt: string): boolean {
  if (job.status !== 'running' || job.holder !== attempt) return false;
  Object.assign(job, { status: 'succeeded', holder: null });
  return true;
}

/** An attempt failed. One whose job waits for the next attempt meanwhile counts only if no attempt could do better. */
export function fail(job: JobState, attempt: string, final: boolean): void {
  if (job.status === 'queued' && final) end(job, 'failed');
  if (job.status !== 'running' || job.holder !== attempt) return;
  giveBack(job, final);
}

function giveBack(job: JobState, final = false): void {
  if (final || job.attempts >= job.maxAttempts) end(job, 'failed');
  else Object.assign(job, { status: 'queued', holder: null });
}

export function end(job: JobState, status: 'failed' | 'canceled'): void {
  Object.assign(job, { status, holder: null });
}

/** What the sweep of a minute does about workers and processes that died. */
export function sweep({ now, jobs, searches }: MoneyState): void {
  for (const job of jobs) if (job.status === 'running' && now - job.startedAt > 2 * attemptTimeoutMs) giveBack(job);
  for (const search of searches) if (search.status === 'open' && now - search.chargedAt > searchLostMs) search.status = 'refunded';
}

export function addSearch(state: MoneyState, id: string, chargedTo: string): SearchState {
  const search: SearchState = { id, chargedTo, month: monthOf(state.now), chargedAt: state.now, status: 'open' };
  state.searches.push(search);
  return search;
}

export function endSearch(search: SearchState, status: 'settled' | 'refunded'): void {
  if (search.status === 'open') search.status = status;
}

/** The jobs that an operator's replay retries, in its order. */
export function replayable({ jobs }: MoneyState): JobState[] {
  const retried = new Set(jobs.map(({ retryOf }) => retryOf));
  const isListed = ({ id, status, inputGone }: JobState) => status === 'failed' && !inputGone && !retried.has(id);
  return jobs.filter(isListed).sort((one, other) => (one.id < other.id ? -1 : 1));
}

/** The service asks the provider for a subscription, and writes down what it says, but of a new one to something else. */
export function learn(state: MoneyState, subscription: SubscriptionState): void {
  if (!subscription.known && subscription.provider.plan === 'free') return;
  if (!subscription.known) subscription.row = ++state.rows;
  subscription.known = structuredClone(subscription.provider);
}

/** The daily comparison: of everything that is not over on both sides. */
export function learnAll(state: MoneyState): void {
  for (const each of state.subscriptions) {
    const status = each.known?.status ?? 'canceled';
    if (each.provider.status !== 'canceled' || status !== 'canceled') learn(state, each);
  }
}

export function refusesWorkspace(state: MoneyState): Refusal | undefined {
  return beyond(state, 'workspaces', state.workspaces.length + 1);
}

/** The unfinished jobs of a workspace fail with it; the others stay without one. */
export function removeWorkspace(state: MoneyState, id: string): void {
  for (const job of state.jobs.filter(({ workspaceId }) => workspaceId === id)) {
    if (job.status === 'queued' || job.status === 'running') {
      end(job, 'failed');
      job.inputGone = true;
    }
    job.workspaceId = null;
  }
  state.workspaces = state.workspaces.filter((each) => each.id !== id);
}

export function refusesBytes(state: MoneyState, workspace: WorkspaceState, moreBytes: number): Refusal | undefined {
  return beyond(state, 'storageBytes', bytesOf(workspace) + moreBytes);
}

/** Members and pending invitations together. */
export function refusesMember(state: MoneyState): Refusal | undefined {
  return beyond(state, 'members', memberCount(state) + pendingOf(state).length + 1);
}

/** Who was invited first is let in first, if the plan shrank. */
export function refusesAcceptance(state: MoneyState, id: string): Refusal | undefined {
  const before = pendingOf(state).sort((one, other) => one.createdAt - other.createdAt || (one.id < other.id ? -1 : 1));
  return beyond(state, 'members', memberCount(state) + before.findIndex((each) => each.id === id) + 1);
}
