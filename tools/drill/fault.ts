import type { Service } from './service.ts';
import type { Tenant } from './tenant.ts';

export interface FaultContext {
  service: Service;
  tenants: Tenant[];
  short: boolean;
}

/** Something that goes wrong, for real, while the tenants work. */
export interface Fault {
  name: string;
  /** How many times a drill lets it happen; 0 leaves it out of a short one. */
  runs: { full: number; short: number };
  /** Makes it happen and ends it again. Answers what it found itself that must not be, beside what is counted after every fault. */
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
  /** From the end of the fault until nothing was left to do: the longest of its runs. */
  recoverySeconds: number;
}
