import { table } from '../../ops/table.ts';
import type { FaultReport } from './fault.ts';

/** Whether a fault left nothing behind that must not be. */
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
  return table([head, ...rows]).join('\n');
}
