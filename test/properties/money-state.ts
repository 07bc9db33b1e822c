/**
 * What an organization owes and may use, as a person would keep it on paper. It shares nothing with the service: neither code nor numbers
 * nor the way in which they are kept. Times are milliseconds since 1970, months their first day.
 */
export interface MoneyState {
  now: number;
  /** Without billing everything is counted and nothing is limited. */
  billing: boolean;
  jobs: JobState[];
  searches: SearchState[];
  subscriptions: SubscriptionState[];
  /** How often the service has written a subscription that it did not know. */
  rows: number;
  workspaces: WorkspaceState[];
  byHand: { plan: PlanName | null; aiCredits: number | null; until: number } | null;
  /** Ids of the members that are not the owner. */
  members: string[];
  invitations: InvitationState[];
}

export interface JobState {
  id: string;
  credits: number;
  month: string;
  status: 'queued' | 'running' | 'succeeded' | 'failed' | 'canceled';
  attempts: number;
  maxAttempts: number;
  /** The attempt that runs, and since when. */
  holder: string | null;
  startedAt: number;
  workspaceId: string | null;
  /** The workspace whose credits it has used, which may be gone. */
  chargedTo: string | null;
  /** Whether it failed because its workspace was deleted: its input is gone, too. */
  inputGone: boolean;
  retryOf: string | null;
}

export interface SearchState {
  id: string;
  month: string;
  chargedAt: number;
  chargedTo: string;
  status: 'open' | 'settled' | 'refunded';
}

/** What the provider holds, and what the service was told last. */
export interface SubscriptionState {
  id: string;
  provider: Subscribed;
  /** The place of its row among those of the organization. */
  row: number;
  known: Subscribed | null;
}

export interface Subscribed {
  createdAt: number;
  /** Its price may be of something else. */
  plan: PlanName;
  status: 'active' | 'trialing' | 'past_due' | 'canceled';
  periodEnd: number;
  trialEnd: number | null;
  /** When each renewal was due that is not paid. */
  unpaid: number[];
  cancelAtPeriodEnd: boolean;
  cancelAt: number | null;
}

export interface WorkspaceState {
  id: string;
  documents: { id: string; bytes: number; ready: boolean }[];
  /** The credits that it may use in a month. */
  budget: number | null;
}

interface InvitationState {
  id: string;
  email: string;
  createdAt: number;
  expiresAt: number;
}

export const minuteMs = 60_000;
export const dayMs = 24 * 60 * minuteMs;

/** Small enough that a sequence reaches each. The service under test is configured with the same. */
export const planLimits = {
  free: { workspaces: 2, members: 2, aiCredits: 12, storageBytes: 100 },
  pro: { workspaces: 3, members: 4, aiCredits: 30, storageBytes: 250 },
  team: { workspaces: 4, members: 5, aiCredits: 60, storageBytes: 400 },
};
export const graceDays = 14;
export const attemptTimeoutMs = 2 * minuteMs;
export const searchLostMs = 10 * minuteMs;

export type PlanName = keyof typeof planLimits;

/** The first day of the calendar month of a time, in UTC. */
export function monthOf(at: number): string {
  return `${new Date(at).toISOString().slice(0, 7)}-01`;
}

export function monthStart(at: number, later = 0): number {
  const date = new Date(at);
  return Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + later, 1);
}
