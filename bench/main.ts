// `npm run bench [-- NAME…] [--json]`: measures side by side on an embedded stack of its own; see docs/performance.md.
import { pino } from 'pino';
import { deletion } from './figures/deletion.ts';
import { indexing } from './figures/documents.ts';
import { growth } from './figures/growth.ts';
import { jobs } from './figures/jobs.ts';
import { memory } from './figures/memory.ts';
import { requests } from './figures/requests.ts';
import { retention } from './figures/retention.ts';
import { search } from './figures/search.ts';
import { stream } from './figures/stream.ts';
import { uploads } from './figures/uploads.ts';
import { type Figure, formatTable } from './support/figure.ts';
import type { Measure } from './support/measure.ts';
import { startService } from './support/service.ts';

const measures: Record<string, Measure> = { jobs, requests, uploads, search, stream, growth, indexing, retention, deletion, memory };

const log = pino({ base: null, timestamp: false }, pino.destination(2));
const args = process.argv.slice(2);
const json = args.includes('--json');
const names = args.filter((arg) => !arg.startsWith('--'));
const unknown = names.filter((name) => !(name in measures));
if (unknown.length > 0) {
  process.stderr.write(`There is no figure ${unknown.join(', ')}. There are: ${Object.keys(measures).join(', ')}.\n`);
  process.exit(2);
}

const figures: Figure[] = [];
let failed = false;
for (const [name, measure] of Object.entries(measures)) {
  if (names.length > 0 && !names.includes(name)) continue;
  process.stderr.write(`Measuring ${name} …\n`);
  // Each on a stack of its own, so that none measures what another left behind.
  const service = await startService();
  try {
    figures.push(...(await measure(service)));
  } catch (err) {
    failed = true;
    log.error({ err, name }, 'could not be measured');
  } finally {
    await service.stop();
  }
}
process.stdout.write(json ? `${JSON.stringify({ figures })}\n` : `${formatTable(figures)}\n`);
process.exit(failed ? 1 : 0);
