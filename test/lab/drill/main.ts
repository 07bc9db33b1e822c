// `npm run drill [-- NAME…] [--json] [--short] [--cut-minutes=N] [--webhooks=LOAD] [--other=DIRECTORY]`: injects real faults into a service under
// load; see docs/operations.md.
// Exits 1 if anything was lost, stuck, duplicated, off or orphaned, or a fault could not be injected; 2 if it is not understood.
import { readArguments, readNumber } from '../read-arguments.ts';
import { type Fault, type FaultReport, formatReports, isSound, type WebhookLoad } from './fault.ts';
import { faults } from './faults/index.ts';
import { runFault } from './run-fault.ts';
import { type Service, startService } from './service.ts';
import { Tenant } from './tenant.ts';

const note = (line: string) => process.stderr.write(`${line}\n`);
const { names, values } = readArguments({
  command: 'npm run drill',
  usage: `Usage: npm run drill -- [NAME…] [--short] [--cut-minutes N] [--webhooks LOAD] [--other DIRECTORY] [--json]

Starts a service, keeps it busy, causes real faults and counts what they lost,
see docs/operations.md. All of it takes over half an hour. NAME is one or several of:

  ${faults.map(({ name }) => name).join('\n  ')}

  --short            the short form that the tests run
  --cut-minutes N    how long cuts of the network last
  --webhooks LOAD    of \`webhooks\`: 100x10000@5 is 100 endpoints, and 10,000 events at 5 a second; 20x60@3 if not given
  --other DIRECTORY  another release, with its packages, for \`two-versions\`
  --json             print one JSON object on standard output
  --help             print this
`,
  options: {
    short: { type: 'boolean', default: false },
    'cut-minutes': { type: 'string' },
    webhooks: { type: 'string', default: '20x60@3' },
    other: { type: 'string' },
    json: { type: 'boolean', default: false },
  },
  names: faults.map(({ name }) => name),
  kind: 'fault',
});
const { short, other, json } = values;
const cutMinutes = readNumber('cut-minutes', values['cut-minutes']);
const cutMs = cutMinutes === undefined ? undefined : cutMinutes * 60_000;
const webhooks = readLoad(values.webhooks);
const interrupted = Promise.withResolvers<never>();
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => interrupted.reject(new Error(`Ended by ${signal}.`)));
interrupted.promise.catch(() => {});

const reports: FaultReport[] = [];
let failed = false;
const wanted = faults.filter(isWanted);
for (const bucket of [false, true]) {
  const group = wanted.filter(({ needsBucket = false }) => needsBucket === bucket);
  if (group.length > 0 && !failed) await drill(group, bucket);
}
process.stdout.write(json ? `${JSON.stringify({ faults: reports })}\n` : `${formatReports(reports)}\n`);
process.exit(failed || !reports.every(isSound) ? 1 : 0);

function readLoad(given: string): WebhookLoad {
  const [, endpoints, events, perSecond] = /^(\d+)x(\d+)@(\d+(?:\.\d+)?)$/.exec(given) ?? [];
  const load = { endpoints: Number(endpoints), events: Number(events), perSecond: Number(perSecond) };
  if (Object.values(load).every((number) => number > 0)) return load;
  note('--webhooks has to be such as 100x10000@5.');
  return process.exit(2);
}

function isWanted({ name, runs, needsOther }: Fault): boolean {
  if (names.length > 0 ? !names.includes(name) : short && runs.short === 0) return false;
  if (!needsOther || other !== undefined) return true;
  note(`${name}: left out, because --other=DIRECTORY names no other release.`);
  return false;
}

/** Injects faults into a service of their own, whose documents are in a directory or in a bucket. */
async function drill(group: Fault[], bucket: boolean): Promise<void> {
  note(`Starting Postgres, Temporal, the AI service, the API and a worker${bucket ? ' on a bucket' : ''} …`);
  let service: Service | undefined;
  try {
    service = await startService({ bucket });
    await Promise.race([inject(group, service), interrupted.promise]);
  } catch (error) {
    failed = true;
    note(error instanceof Error ? (error.stack ?? error.message) : String(error));
  } finally {
    await service?.stop();
  }
}

async function inject(group: Fault[], service: Service): Promise<void> {
  // A request is sent again until the cut is over.
  const patience = cutMs === undefined ? {} : { patienceMs: cutMs + 180_000 };
  const create = () => Tenant.create(service.stack.apiUrl, patience);
  const [tenants, quiet] = [[await create(), await create()], await create()];
  for (const fault of group) {
    note(`${fault.name} …`);
    const startedAt = performance.now();
    const report = await runFault(fault, { service, tenants, quiet, short, other, cutMs, webhooks }, note);
    reports.push(report);
    note(`  ${isSound(report) ? 'sound' : JSON.stringify(report)}, ${Math.round((performance.now() - startedAt) / 1_000)} s`);
  }
}
