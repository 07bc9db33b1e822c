import { setTimeout as delay } from 'node:timers/promises';
import { type Figure, toFigure } from '../support/figure.ts';
import { median } from '../support/rounds.ts';
import { type Service, startService } from '../support/service.ts';

const rounds = 11;

/** The statements that one `jobs.create` and one `GET /documents/{id}` send to Postgres; they are listed on standard error. */
export async function statements(): Promise<Figure[]> {
  const service = await startService();
  try {
    // Without a worker, whose statements would be counted too.
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

/** The statements of the requests with the median count, each with its median time. */
function typical(shots: Statement[][]): Statement[] {
  const count = median(shots.map(({ length }) => length));
  const alike = shots.filter(({ length }) => length === count);
  const [first = []] = alike;
  return first.map(({ text }, index) => ({ text, ms: median(alike.map((shot) => shot[index]?.ms ?? 0)) }));
}

/** The statements that Postgres logs during `work`. */
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

/** A statement from the log of Postgres, with the time for parsing, planning and running it. */
interface Statement {
  text: string;
  ms: number;
}

/**
 * The statements of a log that was written with `log_min_duration_statement = 0`, in their order. The extended protocol logs a
 * statement in several steps, whose times are added up.
 */
function readStatements(log: string): Statement[] {
  const statements: Statement[] = [];
  let ms = 0;
  for (const [, duration, step, text = ''] of log.matchAll(
    /duration: ([\d.]+) ms {2}(statement|parse|bind|execute)[^:]*: (.*(?:\n\t.*)*)/g,
  )) {
    ms += Number(duration);
    if (step === 'parse' || step === 'bind') continue;
    statements.push({ text: text.replaceAll(/\s+/g, ' ').trim(), ms });
    ms = 0;
  }
  return statements;
}
