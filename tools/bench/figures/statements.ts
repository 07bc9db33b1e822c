import { setTimeout as delay } from 'node:timers/promises';
import { type Figure, toFigure } from '../support/figure.ts';
import { median } from '../support/rounds.ts';
import { type Service, startService } from '../support/service.ts';
import { readStatements, type Statement } from '../support/statement-log.ts';

const rounds = 11;

/** The statements that one `jobs.create` and one `GET /documents/{id}` send to Postgres; each is listed on standard error. */
export async function statements(): Promise<Figure[]> {
  const service = await startService();
  try {
    // Jobs that nobody works on: their statements would come between.
    await service.stack.restart('api', { WORKER_ENABLED: 'false' });
    const upload = { workspaceId: service.workspaceId, name: 'bench.txt', contentType: 'text/plain', size: 1 };
    const { document } = await service.call('POST', '/api/v1/documents', upload);
    const job = { organizationId: service.organizationId, kind: 'text.embed', texts: ['a'] };
    return [
      ...(await measure(service, 'GET /documents/{id}', () => service.call('GET', `/api/v1/documents/${document.id}`))),
      ...(await measure(service, 'jobs.create', () => service.call('POST', '/api/v1/jobs', job))),
    ];
  } finally {
    await service.stop();
  }
}

async function measure(service: Service, name: string, request: () => Promise<unknown>): Promise<Figure[]> {
  for (let warmUp = 0; warmUp < 20; warmUp++) await request();
  await delay(1_000);
  await service.pool.query('alter system set log_min_duration_statement = 0');
  await service.pool.query(`alter system set log_line_prefix = '%a|'`);
  await service.pool.query('select pg_reload_conf()');
  const background = new Set((await logged(service, () => delay(3_000))).map(({ text }) => text));
  const shots: Statement[][] = [];
  for (let round = 0; round < rounds; round++) {
    shots.push((await logged(service, request)).filter(({ text }) => !background.has(text)));
  }
  const sent = typical(shots);
  list(name, sent);
  const milliseconds = sent.reduce((sum, statement) => sum + statement.ms, 0);
  return [
    toFigure(`${name}: statements`, { value: sent.length, unit: 'statements' }),
    toFigure(`${name}: time in Postgres`, { value: milliseconds, unit: 'ms' }),
  ];
}

/** The statements of a request that sent as many as most did, each with the median of its times. */
function typical(shots: Statement[][]): Statement[] {
  const count = median(shots.map(({ length }) => length));
  const alike = shots.filter(({ length }) => length === count);
  const [first = []] = alike;
  return first.map(({ text }, index) => ({ text, ms: median(alike.map((shot) => shot[index]?.ms ?? 0)) }));
}

/** What Postgres logs of all that the service sends while something happens. */
async function logged(service: Service, work: () => Promise<unknown>): Promise<Statement[]> {
  await delay(500);
  const before = service.stack.readLog('postgres').length;
  await work();
  await delay(500);
  return readStatements(service.stack.readLog('postgres').slice(before));
}

function list(name: string, sent: Statement[]): void {
  process.stderr.write(`\n${name} sends\n`);
  for (const { ms, text } of sent) process.stderr.write(`${ms.toFixed(3).padStart(9)} ms  ${text.slice(0, 160)}\n`);
  process.stderr.write('\n');
}
