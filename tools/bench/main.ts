// `npm run bench [-- NAME…] [--all] [--quick] [--json] [--documents=N] [--jobs=N]`: measures the service and baselines on an embedded stack; see
// docs/performance.md.
import { pino } from 'pino';
import { readArguments, readNumber } from '../read-arguments.ts';
import { type Effort, type Figure, formatTable, type Measure } from './support/figure.ts';
import { type Service, startService } from './support/service.ts';

type MeasureAlone = (effort: Effort) => Promise<Figure[]>;

// Loaded when they are measured: some bring libraries that take long to load.
const onService: Record<string, () => Promise<Measure>> = {
  costs: async () => (await import('./figures/costs.ts')).costs,
  jobs: async () => (await import('./figures/jobs.ts')).jobs,
  imports: async () => (await import('./figures/imports.ts')).imports,
  queues: async () => (await import('./figures/queues.ts')).queues,
  requests: async () => (await import('./figures/requests.ts')).requests,
  uploads: async () => (await import('./figures/uploads.ts')).uploads,
  search: async () => (await import('./figures/search.ts')).search,
  answers: async () => (await import('./figures/answers.ts')).answers,
  stream: async () => (await import('./figures/stream.ts')).stream,
  growth: async () => (await import('./figures/growth.ts')).growth,
  retention: async () => (await import('./figures/retention.ts')).retention,
  deletion: async () => (await import('./figures/deletion.ts')).deletion,
  memory: async () => (await import('./figures/memory.ts')).memory,
  pages: async () => (await import('./figures/pages.ts')).pages,
  migrations: async () => (await import('./figures/migrations.ts')).migrations,
  notify: async () => (await import('./figures/notify.ts')).notify,
  sizes: async () => (await import('./figures/sizes.ts')).sizes,
  'large-workspace': async () => (await import('./figures/large-workspace.ts')).largeWorkspace,
};
const byThemselves: Record<string, () => Promise<MeasureAlone>> = {
  statements: async () => (await import('./figures/statements.ts')).statements,
  start: async () => (await import('./figures/start.ts')).start,
  indexing: async () => (await import('./figures/indexing.ts')).indexing,
  pdf: async () => (await import('./figures/pdf.ts')).pdf,
  extraction: async () => (await import('./figures/extraction.ts')).extraction,
  ocr: async () => (await import('./figures/ocr.ts')).ocr,
  summaries: async () => (await import('./figures/summaries.ts')).summaries,
  isolation: async () => (await import('./figures/isolation.ts')).isolation,
  backlog: async () => (await import('./figures/backlog.ts')).backlog,
};
/** They read its log, or start it. */
const needEmbedded = new Set(['statements', 'costs', 'start']);
/** What is measured if nothing is named: in a quarter of an hour on two slow cores, and with `--quick` in three minutes. */
const usual = ['start', 'indexing', 'pdf', 'jobs', 'imports', 'queues', 'requests', 'uploads', 'search', 'stream', 'growth'];
const quickly = ['jobs', 'imports', 'requests', 'uploads', 'search', 'stream'];
const measures = new Map([...Object.entries(byThemselves), ...Object.entries(onService).map(withService)]);

const log = pino({ base: null, timestamp: false }, pino.destination(2));
const { names, values } = readArguments({
  command: 'npm run bench',
  usage: `Usage: npm run bench -- [NAME…] [--quick] [--json] [--documents N] [--jobs N]

Measures the service and what it stands on, see docs/performance.md. NAME is one
or several of the figures below. Without a name, those with a star are measured,
in a quarter of an hour or less.

  ${[...measures.keys()].map((name) => (usual.includes(name) ? `${name} *` : name)).join('\n  ')}

  --all          all figures, in one or two hours
  --quick        few rounds and small sizes, in some minutes: not to be compared
  --documents N  of the long import: 500, or 100 with --quick, if absent
  --jobs N       of the backlog: 5000, or 500 with --quick, if absent
  --json         print one JSON object on standard output
  --help         print this
`,
  options: {
    all: { type: 'boolean', default: false },
    quick: { type: 'boolean', default: false },
    json: { type: 'boolean', default: false },
    documents: { type: 'string' },
    jobs: { type: 'string' },
  },
  names: [...measures.keys()],
  kind: 'figure',
});
const { all, quick, json } = values;
const effort: Effort = {
  quick,
  rounds: (full) => (quick ? Math.min(3, full) : full),
  documents: readNumber('documents', values.documents, { whole: true }),
  jobs: readNumber('jobs', values.jobs, { whole: true }),
};

const unnamed = quick ? quickly : usual;
const wanted = names.length > 0 ? names : all ? [...measures.keys()] : unnamed;
const figures: Figure[] = [];
let failed = false;
let shared: Service | undefined;
for (const [name, load] of measures) {
  if (!wanted.includes(name)) continue;
  if (process.env.DATABASE_URL !== undefined && needEmbedded.has(name)) {
    process.stderr.write(`Left out ${name}, which needs the embedded Postgres.\n`);
    continue;
  }
  process.stderr.write(`Measuring ${name} …\n`);
  const startedAt = performance.now();
  try {
    const measure = await load();
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
function withService([name, load]: [string, () => Promise<Measure>]): [string, () => Promise<MeasureAlone>] {
  const run = async (effort: Effort) => {
    const measure = await load();
    if (effort.quick) {
      shared ??= await startService();
      return measure(shared, effort);
    }
    const service = await startService();
    return measure(service, effort).finally(() => service.stop());
  };
  return [name, async () => run];
}
