import { table } from '../../ops/table.ts';
import type { AlertName } from './expected-alerts.ts';
import type { Service } from './service.ts';
import type { Tenant } from './tenant.ts';

export interface FaultContext {
  service: Service;
  tenants: Tenant[];
  short: boolean;
  /** The directory of another release. */
  other?: string | undefined;
}

/** A real fault that is injected while the tenants work. */
export interface Fault {
  name: string;
  /** How often a drill injects it; 0 leaves it out of a short drill. */
  runs: { full: number; short: number };
  /** It runs only with another release beside this one. */
  needsOther?: boolean;
  /** Causes the fault and ends it. Returns the violations that it found itself, in addition to those counted after every fault. */
  inject(context: FaultContext): Promise<{ lost?: number; stuck?: number; duplicated?: number } | undefined>;
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
  /** What a Prometheus saw, if there was one: alerts that had to fire and did not, and those that no table allows. */
  alerts?: { fired: AlertName[]; missing: AlertName[]; unexpected: AlertName[] };
  /** From the end of the fault until nothing was left to do: the maximum of its runs. */
  recoverySeconds: number;
}

/** Whether a fault violated nothing. */
export function isSound({ lost, stuck, duplicated, ledgerOff, orphans }: FaultReport): boolean {
  return lost + stuck + duplicated + ledgerOff + orphans === 0;
}

function describeAlerts({ alerts }: FaultReport): string {
  if (!alerts) return 'not watched';
  const marked = alerts.fired.map((name) => (alerts.unexpected.includes(name) ? `${name} (unexpected)` : name));
  return [...marked, ...alerts.missing.map((name) => `no ${name}`)].join(', ') || 'none';
}

/** The reports as a table. */
export function formatReports(reports: FaultReport[]): string {
  const head = ['FAULT', 'RUNS', 'LOST', 'STUCK', 'DUPLICATED', 'LEDGER OFF', 'ORPHANS', 'SECONDS TO RECOVER', 'ALERTS'];
  const rows = reports.map((one) => [
    one.name,
    one.runs,
    one.lost,
    one.stuck,
    one.duplicated,
    one.ledgerOff,
    one.orphans,
    one.recoverySeconds,
    describeAlerts(one),
  ]);
  return table([head, ...rows]).join('\n');
}
