// `npm run bench [-- NAME…] [--all] [--quick] [--json] [--documents=N] [--jobs=N]`: measures the service and baselines on an embedded stack; see
// docs/performance.md.
import { pino } from 'pino';
import { readArguments, readNumber } from '../read-arguments.ts';
import { answers } from './figures/answers.ts';
import { backlog } from './figures/backlog.ts';
import { costs } from './figures/costs.ts';
import { deletion } from './figures/deletion.ts';
import { extraction } from './figures/extraction.ts';
import { growth } from './figures/growth.ts';
import { imports } from './figures/imports.ts';
import { indexing } from './figures/indexing.ts';
import { isolation } from './figures/isolation.ts';
import { jobs } from './figures/jobs.ts';
import { largeWorkspace } from './figures/large-workspace.ts';
import { memory } from './figures/memory.ts';
import { migrations } from './figures/migrations.ts';
import { notify } from './figures/notify.ts';
import { ocr } from './figures/ocr.ts';
import { pages } from './figures/pages.ts';
import { pdf } from './figures/pdf.ts';
import { queues } from './figures/queues.ts';
import { requests } from './figures/requests.ts';
import { retention } from './figures/retention.ts';
import { search } from './figures/search.ts';
import { sizes } from './figures/sizes.ts';
import { start } from './figures/start.ts';
import { statements } from './figures/statements.ts';
import { stream } from './figures/stream.ts';
import { summaries } from './figures/summaries.ts';
import { uploads } from './figures/uploads.ts';
import { type Effort, type Figure, formatTable, type Measure } from './support/figure.ts';
import { type Service, startService } from './support/service.ts';

const onService: Record<string, Measure> = {
  costs,
  jobs,
  imports,
  queues,
  requests,
  uploads,
  search,
  answers,
  stream,
  growth,
  retention,
  deletion,
  memory,
  pages,
  migrations,
  notify,
  sizes,
  'large-workspace': largeWorkspace,
};
const byThemselves: Record<string, (effort: Effort) => Promise<Figure[]>> = {
  statements,
  start,
  indexing,
  pdf,
  extraction,
  ocr,
  summaries,
  isolation,
  backlog,
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
function withService([name, measure]: [string, Measure]): [string, (effort: Effort) => Promise<Figure[]>] {
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
