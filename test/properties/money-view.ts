import {
  dayMs,
  graceDays,
  type JobState,
  type MoneyState,
  monthOf,
  monthStart,
  type PlanName,
  planLimits,
  type Subscribed,
  type SubscriptionState,
} from './money-state.ts';

/** Everything about an organization's money that can be seen: in the tables, in `organizations.usage` and in `billing.status`. */
export interface MoneyView {
  /** Id, status, attempts, credits, month, and the job that it retries. */
  jobs: string[];
  /** Key, amount and month of each entry of the ledger. */
  ledger: string[];
  /** The counters of the months. */
  months: Record<string, number>;
  openSearches: string[];
  /** Bytes of each workspace. */
  bytes: Record<string, number>;
  /** The plan as the triggers of the database see it; null while billing is off. */
  planInSql: string | null;
  usage: unknown;
  billing: unknown;
}

/** What must be seen of a state. */
export function viewOf(state: MoneyState): MoneyView {
  const plan = planOf(state);
  return {
    jobs: state.jobs.map(describeJob).sort(),
    ledger: entriesOf(state)
      .map(({ key, amount, month }) => `${key} ${amount} ${month}`)
      .sort(),
    months: monthsOf(state),
    openSearches: state.searches
      .filter(({ status }) => status === 'open')
      .map(({ id }) => id)
      .sort(),
    bytes: Object.fromEntries(state.workspaces.map((workspace) => [workspace.id, bytesOf(workspace)])),
    planInSql: plan,
    usage: {
      plan,
      limits: plan && limitsOf(state, plan),
      usage: {
        workspaces: state.workspaces.length,
        members: memberCount(state),
        pendingInvitations: pendingOf(state).length,
        aiCredits: creditsUsed(state),
      },
      period: { start: iso(monthStart(state.now)), end: iso(monthStart(state.now, 1)) },
    },
    billing: plan ? billingOf(state, plan) : billingOff,
  };
}

const billingOff = { enabled: false, plan: null, limits: null, subscription: null, paymentFailed: false, overLimit: [] };

function describeJob({ id, status, attempts, credits, month, retryOf }: JobState): string {
  return [id, status, attempts, credits, month, retryOf ?? '-'].join(' ');
}

interface Entry {
  key: string;
  amount: number;
  month: string;
}

/** Each job and each search is charged once, and refunded once if it did not succeed; a refund counts in the month of its charge. */
function entriesOf({ jobs, searches }: MoneyState): Entry[] {
  return [
    ...jobs.flatMap(({ id, credits, month, status }) => [
      { key: `job:${id}:charge`, amount: credits, month },
      ...(status === 'failed' || status === 'canceled' ? [{ key: `job:${id}:refund`, amount: -credits, month }] : []),
    ]),
    ...searches.flatMap(({ id, month, status }) => [
      { key: `search:${id}:charge`, amount: 1, month },
      ...(status === 'refunded' ? [{ key: `search:${id}:refund`, amount: -1, month }] : []),
    ]),
  ];
}

function monthsOf(state: MoneyState): Record<string, number> {
  const months: Record<string, number> = {};
  for (const { month, amount } of entriesOf(state)) months[month] = (months[month] ?? 0) + amount;
  return months;
}

export function creditsUsed(state: MoneyState): number {
  return monthsOf(state)[monthOf(state.now)] ?? 0;
}

/** Why something is given by hand. */
export const reason = 'A trial.';

/** What is given by hand now. */
export function byHandOf({ byHand, now }: MoneyState) {
  return byHand && byHand.until > now ? byHand : undefined;
}

export function limitsOf(state: MoneyState, plan: PlanName) {
  return { ...planLimits[plan], ...limitsByHand(state) };
}

function limitsByHand(state: MoneyState) {
  const aiCredits = byHandOf(state)?.aiCredits ?? null;
  return aiCredits === null ? {} : { aiCredits };
}

/** The credits of this month that are a workspace's. */
export function usedBy(state: MoneyState, workspaceId: string | null): number {
  const jobs = state.jobs.filter(({ chargedTo }) => chargedTo === workspaceId);
  const searches = state.searches.filter(({ chargedTo }) => chargedTo === workspaceId);
  return creditsUsed({ ...state, jobs, searches });
}

export function memberCount(state: MoneyState): number {
  return 1 + state.members.length;
}

export function pendingOf({ invitations, now }: MoneyState) {
  return invitations.filter(({ expiresAt }) => expiresAt > now);
}

export function bytesOf({ documents }: MoneyState['workspaces'][number]): number {
  return documents.reduce((sum, { bytes }) => sum + bytes, 0);
}

/** The best plan that a subscription gives now; null while billing is off. */
export function planOf(state: MoneyState): PlanName | null {
  if (!state.billing) return null;
  const byHand = byHandOf(state)?.plan;
  if (byHand) return byHand;
  const given = knownOf(state).filter(({ known }) => gives(known, state.now));
  return (['team', 'pro'] as const).find((name) => given.some(({ known }) => known.plan === name)) ?? 'free';
}

/** A renewal that is not paid is forgiven for some days. */
function gives({ status, unpaid, periodEnd }: Subscribed, now: number): boolean {
  if (status === 'active' || status === 'trialing') return true;
  return status === 'past_due' && now < (unpaid.length > 0 ? Math.min(...unpaid) : periodEnd) + graceDays * dayMs;
}

type Known = SubscriptionState & { known: Subscribed };

function knownOf({ subscriptions }: MoneyState): Known[] {
  return subscriptions.filter((each): each is Known => each.known !== null);
}

function billingOf(state: MoneyState, plan: PlanName) {
  const shown = knownOf(state).sort(inOrder())[0]?.known;
  const limits = limitsOf(state, plan);
  const byHand = byHandOf(state);
  const current = {
    workspaces: state.workspaces.length,
    members: memberCount(state) + pendingOf(state).length,
    aiCredits: creditsUsed(state),
  };
  const kinds = ['workspaces', 'members', 'aiCredits'] as const;
  return {
    enabled: true,
    plan,
    limits,
    subscription: shown ? describeSubscription(shown) : null,
    ...(byHand && { byHand: { plan: byHand.plan, limits: limitsByHand(state), until: iso(byHand.until), reason } }),
    paymentFailed: shown?.status === 'past_due',
    overLimit: kinds.flatMap((kind) => (current[kind] > limits[kind] ? [{ kind, current: current[kind], limit: limits[kind] }] : [])),
  };
}

function describeSubscription({ plan, status, periodEnd, trialEnd, cancelAtPeriodEnd, cancelAt }: Subscribed) {
  return {
    ...{ plan, status, seats: 1, periodEnd: iso(periodEnd), trialEnd: trialEnd === null ? null : iso(trialEnd) },
    ...{
      cancelAtPeriodEnd: cancelAtPeriodEnd || cancelAt === periodEnd,
      cancelAt: cancelAt === null ? null : iso(cancelAt),
      billingInterval: 'month',
    },
  };
}

/** The one shown is a live one of a plan that goes on, paid before on trial, the best, the oldest; else the last. */
function inOrder() {
  const rank = ({ known, row }: Known) => {
    const isLive = known.status !== 'canceled';
    return [
      Number(isLive),
      Number(isLive && known.plan !== 'free'),
      Number(known.status === 'active' || known.status === 'trialing'),
      Number(isLive && !known.cancelAtPeriodEnd && known.cancelAt === null),
      Number(known.status === 'active'),
      Number(isLive && known.plan === 'team'),
      isLive ? -known.createdAt : 0,
      known.periodEnd,
      row,
    ];
  };
  return (one: Known, other: Known) => {
    const [ranks, others] = [rank(one), rank(other)];
    const at = ranks.findIndex((value, index) => value !== others[index]);
    return (others[at] ?? 0) - (ranks[at] ?? 0);
  };
}

function iso(at: number): string {
  return new Date(at).toISOString();
}
