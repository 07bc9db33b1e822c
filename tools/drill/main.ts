// `npm run drill [-- NAME…] [--json] [--short] [--other=DIRECTORY]`: injects real faults into a service under load; see docs/operations.md.
// Exits 1 if anything was lost, stuck, duplicated, off or orphaned, or a fault could not be injected; 2 if it is not understood.
import { parseArgs } from 'node:util';
import { type FaultReport, formatReports, isSound } from './fault.ts';
import { faults } from './faults/index.ts';
import { runFault } from './run-fault.ts';
import { startService } from './service.ts';
import { Tenant } from './tenant.ts';

const { names, json, short, other } = readArguments(process.argv.slice(2));
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

/** Ends the process if only the usage is asked for, or if the arguments are not understood. */
function readArguments(args: string[]) {
  const usage = `Usage: npm run drill -- [NAME…] [--short] [--other DIRECTORY] [--json]

Starts a service, keeps it busy, causes real faults and counts what they lost,
see docs/operations.md. All of it takes half an hour. NAME is one or several of:

  ${faults.map(({ name }) => name).join('\n  ')}

  --short            the short form that the tests run
  --other DIRECTORY  another release, with its packages, for \`two-versions\`
  --json             print one JSON object on standard output
  --help             print this
`;
  const refuse = (problem: string): never => {
    process.stderr.write(`${problem}\nSee npm run drill -- --help\n`);
    return process.exit(2);
  };
  const flag = { type: 'boolean', default: false } as const;
  const options = { json: flag, short: flag, help: flag, other: { type: 'string' } } as const;
  const parse = () => parseArgs({ args, options, allowPositionals: true });
  let parsed: ReturnType<typeof parse>;
  try {
    parsed = parse();
  } catch (error) {
    return refuse((error as Error).message);
  }
  const { positionals: names, values } = parsed;
  if (values.help) {
    process.stdout.write(usage);
    process.exit(0);
  }
  const unknown = names.filter((name) => faults.every((fault) => fault.name !== name));
  if (unknown.length > 0) {
    return refuse(`There is no fault ${unknown.join(', ')}. There are: ${faults.map(({ name }) => name).join(', ')}.`);
  }
  return { names, json: values.json, short: values.short, other: values.other };
}

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
