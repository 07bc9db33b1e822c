// `npm run bench [-- NAME…] [--json]`: measures the service and baselines on an embedded stack; see docs/performance.md.
import { pino } from 'pino';
import { deletion } from './figures/deletion.ts';
import { growth } from './figures/growth.ts';
import { indexing } from './figures/indexing.ts';
import { jobs } from './figures/jobs.ts';
import { memory } from './figures/memory.ts';
import { migrations } from './figures/migrations.ts';
import { notify } from './figures/notify.ts';
import { pages } from './figures/pages.ts';
import { pdf } from './figures/pdf.ts';
import { queues } from './figures/queues.ts';
import { requests } from './figures/requests.ts';
import { retention } from './figures/retention.ts';
import { search } from './figures/search.ts';
import { start } from './figures/start.ts';
import { statements } from './figures/statements.ts';
import { stream } from './figures/stream.ts';
import { uploads } from './figures/uploads.ts';
import { type Figure, formatTable, type Measure } from './support/figure.ts';
import { startService } from './support/service.ts';

const onService: Record<string, Measure> = {
  jobs,
  queues,
  requests,
  uploads,
  search,
  stream,
  growth,
  retention,
  deletion,
  memory,
  pages,
  migrations,
  notify,
};
const byThemselves: Record<string, () => Promise<Figure[]>> = { statements, start, indexing, pdf };
const measures = new Map([...Object.entries(byThemselves), ...Object.entries(onService).map(withService)]);

const log = pino({ base: null, timestamp: false }, pino.destination(2));
const args = process.argv.slice(2);
const json = args.includes('--json');
const names = args.filter((arg) => !arg.startsWith('--'));
const unknown = names.filter((name) => !measures.has(name));
if (unknown.length > 0) {
  process.stderr.write(`There is no figure ${unknown.join(', ')}. There are: ${[...measures.keys()].join(', ')}.\n`);
  process.exit(2);
}

const figures: Figure[] = [];
let failed = false;
for (const [name, measure] of measures) {
  if (names.length > 0 && !names.includes(name)) continue;
  process.stderr.write(`Measuring ${name} …\n`);
  try {
    figures.push(...(await measure()));
  } catch (err) {
    failed = true;
    log.error({ err, name }, 'could not be measured');
  }
}
process.stdout.write(json ? `${JSON.stringify({ figures })}\n` : `${formatTable(figures)}\n`);
process.exit(failed ? 1 : 0);

/** Runs a measure on its own stack, so that none depends on what another left behind. */
function withService([name, measure]: [string, Measure]): [string, () => Promise<Figure[]>] {
  const run = async () => {
    const service = await startService();
    return measure(service).finally(() => service.stop());
  };
  return [name, run];
}
