// `npm run bench [-- NAME…] [--all] [--quick] [--json] [--documents=N]`: measures the service and baselines on an embedded stack; see
// docs/performance.md.
import { pino } from 'pino';
import { readArguments, readNumber } from '../read-arguments.ts';
import { type Effort, type Figure, formatTable, type Measure } from './support/figure.ts';
import { type Service, startService } from './support/service.ts';

type MeasureAlone = (effort: Effort) => Promise<Figure[]>;

// Loaded when they are measured: some bring libraries that take long to load.
const onService: Record<string, Measure> = {
  jobs: async (service, effort) => (await import('./figures/jobs.ts')).jobs(service, effort),
  imports: async (service, effort) => (await import('./figures/imports.ts')).imports(service, effort),
  queues: async (service, effort) => (await import('./figures/queues.ts')).queues(service, effort),
  requests: async (service, effort) => (await import('./figures/requests.ts')).requests(service, effort),
  uploads: async (service, effort) => (await import('./figures/uploads.ts')).uploads(service, effort),
  search: async (service, effort) => (await import('./figures/search.ts')).search(service, effort),
  answers: async (service, effort) => (await import('./figures/answers.ts')).answers(service, effort),
  stream: async (service, effort) => (await import('./figures/stream.ts')).stream(service, effort),
  growth: async (service, effort) => (await import('./figures/growth.ts')).growth(service, effort),
};
const byThemselves: Record<string, MeasureAlone> = {
  start: async (effort) => (await import('./figures/start.ts')).start(effort),
  indexing: async (effort) => (await import('./figures/indexing.ts')).indexing(effort),
  pdf: async (effort) => (await import('./figures/pdf.ts')).pdf(effort),
  extraction: async () => (await import('./figures/extraction.ts')).extraction(),
  ocr: async (effort) => (await import('./figures/ocr.ts')).ocr(effort),
  summaries: async () => (await import('./figures/summaries.ts')).summaries(),
  isolation: async (effort) => (await import('./figures/isolation.ts')).isolation(effort),
};
/** It starts it. */
const needEmbedded = new Set(['start']);
/** What is measured if nothing is named: in a quarter of an hour on two slow cores, and with `--quick` in three minutes. */
const usual = ['start', 'indexing', 'pdf', 'jobs', 'imports', 'queues', 'requests', 'uploads', 'search', 'stream', 'growth'];
const quickly = ['jobs', 'imports', 'requests', 'uploads', 'search', 'stream'];
const measures = new Map([...Object.entries(byThemselves), ...Object.entries(onService).map(withService)]);

const log = pino({ base: null, timestamp: false }, pino.destination(2));
const { names, values } = readArguments({
  command: 'npm run bench',
  usage: `Usage: npm run bench -- [NAME…] [--quick] [--json] [--documents N]

Measures the service and what it stands on, see docs/performance.md. NAME is one
or several of the figures below. Without a name, those with a star are measured,
in a quarter of an hour or less.

  ${[...measures.keys()].map((name) => (usual.includes(name) ? `${name} *` : name)).join('\n  ')}

  --all          all figures, in two hours or more: isolation takes 50 minutes
  --quick        few rounds and small sizes, in some minutes: not to be compared
  --documents N  of the long import: 500, or 100 with --quick, if absent
  --json         print one JSON object on standard output
  --help         print this
`,
  options: {
    all: { type: 'boolean', default: false },
    quick: { type: 'boolean', default: false },
    json: { type: 'boolean', default: false },
    documents: { type: 'string' },
  },
  names: [...measures.keys()],
  kind: 'figure',
});
const { all, quick, json } = values;
const effort: Effort = {
  quick,
  rounds: (full) => (quick ? Math.min(3, full) : full),
  documents: readNumber('documents', values.documents, { whole: true }),
};

const unnamed = quick ? quickly : usual;
const wanted = names.length > 0 ? names : all ? [...measures.keys()] : unnamed;
const figures: Figure[] = [];
let failed = false;
let shared: Service | undefined;
for (const [name, measure] of measures) {
  if (!wanted.includes(name)) continue;
  if (process.env.DATABASE_URL !== undefined && needEmbedded.has(name)) {
    process.stderr.write(`Left out ${name}, which needs the embedded Postgres.\n`);
    continue;
  }
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
