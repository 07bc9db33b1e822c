import { table } from '../../../ops/table.ts';
import type { Service } from './service.ts';
import type { Tenant } from './tenant.ts';
import type { CutReport } from './watch-cut.ts';

export interface FaultContext {
  service: Service;
  tenants: Tenant[];
  /** A tenant that asks for nothing by itself. */
  quiet: Tenant;
  short: boolean;
  /** How long a cut of the network lasts; undefined for half a minute. */
  cutMs?: number | undefined;
  /** The directory of another release. */
  other?: string | undefined;
  webhooks: WebhookLoad;
}

/** How many endpoints and events there are, one of ten endpoints live, and how many events come in a second. */
export interface WebhookLoad {
  endpoints: number;
  events: number;
  perSecond: number;
}

/** How soon live endpoints got their events; `perSecond` is what came about. */
export interface WebhookReport extends WebhookLoad {
  /** From the commit to the first arrival, of what the kill of the worker did not disturb. */
  p50Ms: number;
  p95Ms: number;
  /** Of all. */
  longestMs: number;
  /** The most resident memory of the worker. */
  workerMb: number;
}

/** What an outage of a provider cost its jobs. */
export interface OutageReport {
  jobs: number;
  failed: number;
  /** Jobs with more than one attempt: those that ran when the provider broke, or when the worker was killed. */
  triedAgain: number;
  /** Calls while the provider was down. */
  callsWhileDown: number;
  /** The most calls at once after it. */
  mostAtOnce: number;
  /** Calls that the limit of the provider refused after it. */
  refused: number;
  /** The share of the calls that its limit allowed which came about, while many jobs waited. */
  ofLimit: number;
}

/** A real fault that is injected while the tenants work. */
export interface Fault {
  name: string;
  /** How often a drill injects it; 0 leaves it out of a short drill. */
  runs: { full: number; short: number };
  /** It runs only with another release beside this one. */
  needsOther?: boolean;
  /** It runs on a service whose documents are in a bucket, not in a directory. */
  needsBucket?: boolean;
  /** It cuts the network, for as long as one says. It runs once then. */
  isCut?: boolean;
  /** It brings its own load, in place of that of the tenants. */
  isAlone?: boolean;
  /** Causes the fault and ends it. Returns the violations that it found itself, in addition to those counted after every fault. */
  inject(context: FaultContext): Promise<Found | undefined>;
}

/** Violations that a fault found by itself. */
export type Violations = Partial<Pick<FaultReport, 'lost' | 'stuck' | 'duplicated'>>;

/** What it found at its end, and what a cut did. */
interface Found extends Violations {
  /** Looks again once nothing is left to do. */
  afterRecovery?: () => Promise<Violations>;
  cut?: CutReport;
  webhooks?: WebhookReport;
  outage?: OutageReport;
}

/** What a fault left behind. */
export interface FaultReport {
  name: string;
  runs: number;
  lost: number;
  stuck: number;
  duplicated: number;
  ledgerOff: number;
  orphans: number;
  /** From the end of the fault until nothing was left to do: the maximum of its runs. */
  recoverySeconds: number;
  /** Of a cut of the network: its last run. */
  cut?: CutReport;
  webhooks?: WebhookReport;
  outage?: OutageReport;
}

/** Whether a fault violated nothing. */
export function isSound({ lost, stuck, duplicated, ledgerOff, orphans }: FaultReport): boolean {
  return lost + stuck + duplicated + ledgerOff + orphans === 0;
}

/** The reports as a table. */
export function formatReports(reports: FaultReport[]): string {
  const head = ['FAULT', 'RUNS', 'LOST', 'STUCK', 'DUPLICATED', 'LEDGER OFF', 'ORPHANS', 'SECONDS TO RECOVER'];
  const rows = reports.map((one) => [
    one.name,
    one.runs,
    one.lost,
    one.stuck,
    one.duplicated,
    one.ledgerOff,
    one.orphans,
    one.recoverySeconds,
  ]);
  return [...table([head, ...rows]), ...reports.flatMap(describeMore)].join('\n');
}

function describeMore({ name, cut, webhooks, outage }: FaultReport): string[] {
  return [
    ...(cut ? [describeCut(name, cut)] : []),
    ...(webhooks ? [describeWebhooks(webhooks)] : []),
    ...(outage ? [describeOutage(outage)] : []),
  ];
}

function describeOutage({ jobs, failed, triedAgain, callsWhileDown, mostAtOnce, refused, ofLimit }: OutageReport): string {
  const counted = `${jobs} jobs, ${failed} failed, ${triedAgain} tried again`;
  const calls = `${callsWhileDown} calls while it was down, then ${mostAtOnce} at once at most, ${refused} refused by its limit`;
  return `provider-outage: ${counted}; ${calls}, ${Math.round(ofLimit * 100)} % of the limit used`;
}

function describeWebhooks({ endpoints, events, perSecond, p50Ms, p95Ms, longestMs, workerMb }: WebhookReport): string {
  const arrival = `half within ${p50Ms} ms, 95 % within ${p95Ms} ms; with the worker killed, all within ${longestMs} ms`;
  return `webhooks: ${events} events for ${endpoints} endpoints, ${perSecond} a second: ${arrival}; the worker took ${workerMb} MB at most`;
}

function describeCut(name: string, { apiMb, goesOnSeconds }: CutReport): string {
  return `${name}: the API took ${apiMb} MB at most, and all was served again ${goesOnSeconds} s after the cut`;
}
