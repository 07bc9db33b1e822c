// `npm run drill [-- NAME…] [--json] [--short] [--other=DIRECTORY]`: injects real faults into a service under load; see docs/operations.md.
// Exits 1 if anything was lost, stuck, duplicated, off or orphaned, or a fault could not be injected; 2 if it is not understood.
import { type FaultReport, formatReports, isSound } from './fault.ts';
import { faults } from './faults/index.ts';
import { runFault } from './run-fault.ts';
import { startService } from './service.ts';
import { Tenant } from './tenant.ts';

const args = process.argv.slice(2);
const json = args.includes('--json');
const short = args.includes('--short');
const other = args.find((arg) => arg.startsWith('--other='))?.slice('--other='.length);
const names = args.filter((arg) => !['--json', '--short', `--other=${other}`].includes(arg));
const unknown = names.filter((name) => faults.every((fault) => fault.name !== name));
if (unknown.length > 0) {
  process.stderr.write(`There is no fault ${unknown.join(', ')}. There are: ${faults.map(({ name }) => name).join(', ')}.\n`);
  process.exit(2);
}
const note = (line: string) => process.stderr.write(`${line}\n`);
const interrupted = Promise.withResolvers<never>();
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => interrupted.reject(new Error(`Ended by ${signal}.`)));

const reports: FaultReport[] = [];
let failed = false;
note('Starting Postgres, Temporal, the AI service, the API and a worker …');
const service = await startService();
if (!service.alerts) note('No Prometheus is installed, so no alerts are watched: the Debian package prometheus has it.');
try {
  await Promise.race([drill(), interrupted.promise]);
} catch (error) {
  failed = true;
  note(error instanceof Error ? (error.stack ?? error.message) : String(error));
} finally {
  await service.stop();
}
process.stdout.write(json ? `${JSON.stringify({ faults: reports })}\n` : `${formatReports(reports)}\n`);
process.exit(failed || !reports.every(isSound) ? 1 : 0);

async function drill(): Promise<void> {
  const tenants = [await Tenant.create(service.stack.apiUrl), await Tenant.create(service.stack.apiUrl)];
  for (const fault of faults) {
    const isWanted = names.length > 0 ? names.includes(fault.name) : !short || fault.runs.short > 0;
    if (!isWanted) continue;
    if (fault.needsOther && other === undefined) {
      note(`${fault.name}: left out, because --other=DIRECTORY names no other release.`);
      continue;
    }
    note(`${fault.name} …`);
    const startedAt = performance.now();
    const report = await runFault(fault, { service, tenants, short, other }, note);
    reports.push(report);
    note(`  ${isSound(report) ? 'sound' : JSON.stringify(report)}, ${Math.round((performance.now() - startedAt) / 1_000)} s`);
  }
}
