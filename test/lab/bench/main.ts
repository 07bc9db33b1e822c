// `npm run bench [-- NAME…] [--all] [--quick] [--json]`: measures the service and baselines on an embedded stack; see docs/performance.md.
import { pino } from 'pino';
import { readArguments } from '../read-arguments.ts';
import { type Effort, type Figure, formatTable, type Measure } from './support/figure.ts';
import { type Service, startService } from './support/service.ts';

type MeasureAlone = (effort: Effort) => Promise<Figure[]>;

// Loaded when they are measured: some bring libraries that take long to load.
const onService: Record<string, Measure> = {
  jobs: async (service, effort) => (await import('./figures/jobs.ts')).jobs(service, effort),
  imports: async (service, effort) => (await import('./figures/imports.ts')).imports(service, effort),
  requests: async (service, effort) => (await import('./figures/requests.ts')).requests(service, effort),
  search: async (service, effort) => (await import('./figures/search.ts')).search(service, effort),
  answers: async (service, effort) => (await import('./figures/answers.ts')).answers(service, effort),
  stream: async (service, effort) => (await import('./figures/stream.ts')).stream(service, effort),
};
const byThemselves: Record<string, MeasureAlone> = {
  indexing: async (effort) => (await import('./figures/indexing.ts')).indexing(effort),
  extraction: async () => (await import('./figures/extraction.ts')).extraction(),
  pages: async (effort) => (await import('./figures/pages.ts')).pages(effort),
  console: async (effort) => (await import('./figures/console.ts')).console(effort),
  isolation: async (effort) => (await import('./figures/isolation.ts')).isolation(effort),
  judges: async (effort) => (await import('./figures/judges.ts')).judges(effort, values.judges, values.part),
};
/** What is measured if nothing is named, in ten minutes on two slow cores. */
const usual = ['indexing', 'jobs', 'imports', 'requests', 'search', 'stream'];
const measures = new Map([...Object.entries(byThemselves), ...Object.entries(onService).map(withService)]);

const log = pino({ base: null, timestamp: false }, pino.destination(2));
const { names, values } = readArguments({
  command: 'npm run bench',
  usage: `Usage: npm run bench -- [NAME…] [--quick] [--json]

Measures the service and what it stands on, see docs/performance.md. NAME is one
or several of the figures below. Without a name, those with a star are measured,
in ten minutes or less.

  ${[...measures.keys()].map((name) => (usual.includes(name) ? `${name} *` : name)).join('\n  ')}

  --all    all figures, in two hours or more: isolation takes 50 minutes
  --judges DIR  the public sets that "judges" reads; docs/quality.md says where each is from
  --part NAME   only this part of "judges"; may be given several times
  --quick  few rounds and small sizes, in some minutes: not to be compared
  --json   print one JSON object on standard output
  --help   print this
`,
  options: {
    all: { type: 'boolean', default: false },
    quick: { type: 'boolean', default: false },
    json: { type: 'boolean', default: false },
    judges: { type: 'string' },
    part: { type: 'string', multiple: true, default: [] },
  },
  names: [...measures.keys()],
  kind: 'figure',
});
const { all, quick, json } = values;
const effort: Effort = { quick, rounds: (full) => (quick ? Math.min(3, full) : full) };

const unnamed = all ? [...measures.keys()].filter((name) => name !== 'judges' || values.judges !== undefined) : usual;
const wanted = names.length > 0 ? names : unnamed;
const figures: Figure[] = [];
let failed = false;
let shared: Service | undefined;
for (const [name, measure] of measures) {
  if (!wanted.includes(name)) continue;
  process.stderr.write(`Measuring ${name} …\n`);
  const startedAt = performance.now();
  try {
    const measured = await measure(effort);
    figures.push(...measured);
    process.stderr.write(`${formatTable(measured)}\n${Math.round((performance.now() - startedAt) / 1_000)} s\n\n`);
  } catch (err) {
    failed = true;
    log.error({ err, name }, 'could not be measured');
  }
}
await shared?.stop();
const table = quick
  ? `${formatTable(figures)}\nA quick run: few rounds and small sizes. Only a full run is compared with another.`
  : formatTable(figures);
process.stdout.write(`${json ? JSON.stringify({ quick, figures }) : table}\n`);
process.exit(failed ? 1 : 0);

/** Runs a measure on its own stack, so that none depends on what another left behind; in a quick run on the one of all. */
function withService([name, measure]: [string, Measure]): [string, MeasureAlone] {
  const run = async (effort: Effort) => {
    if (effort.quick) {
      shared ??= await startService();
      return measure(shared, effort);
    }
    const service = await startService();
    return measure(service, effort).finally(() => service.stop());
  };
  return [name, run];
}
