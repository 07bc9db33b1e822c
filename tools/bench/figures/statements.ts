import { setTimeout as delay } from 'node:timers/promises';
import { type Effort, type Figure, toFigure } from '../support/figure.ts';
import { logStatements, type Statement, statementsDuring } from '../support/postgres-log.ts';
import { median } from '../support/rounds.ts';
import { type Service, startService } from '../support/service.ts';

/** The statements that one `jobs.create` and one `GET /documents/{id}` send to Postgres; they are listed on standard error. */
export async function statements({ quick }: Effort): Promise<Figure[]> {
  const rounds = quick ? 3 : 11;
  const service = await startService();
  try {
    // Without a worker, whose statements would be counted too.
    await service.stack.restart('api', { WORKER_ENABLED: 'false' });
    const upload = { workspaceId: service.workspaceId, name: 'bench.txt', contentType: 'text/plain', size: 1 };
    const { document } = await service.call('POST', '/api/v1/documents', upload);
    const job = { organizationId: service.organizationId, kind: 'text.embed', texts: ['a'] };
    return [
      ...(await measure(service, rounds, 'GET /documents/{id}', () => service.call('GET', `/api/v1/documents/${document.id}`))),
      ...(await measure(service, rounds, 'jobs.create', () => service.call('POST', '/api/v1/jobs', job))),
    ];
  } finally {
    await service.stop();
  }
}

async function measure(service: Service, rounds: number, name: string, request: () => Promise<unknown>): Promise<Figure[]> {
  for (let warmUp = 0; warmUp < 20; warmUp++) await request();
  await delay(1_000);
  await logStatements(service);
  const background = new Set((await statementsDuring(service, () => delay(3_000))).map(({ text }) => text));
  const shots: Statement[][] = [];
  for (let round = 0; round < rounds; round++) {
    shots.push((await statementsDuring(service, request)).filter(({ text }) => !background.has(text)));
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

function list(name: string, sent: Statement[]): void {
  process.stderr.write(`\n${name} sends\n`);
  for (const { ms, text } of sent) process.stderr.write(`${ms.toFixed(3).padStart(9)} ms  ${text.slice(0, 160)}\n`);
  process.stderr.write('\n');
}
