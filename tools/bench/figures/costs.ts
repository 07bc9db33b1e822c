import { setTimeout as delay } from 'node:timers/promises';
import { Client, Connection } from '@temporalio/client';
import { type BareTemporal, startBareTemporal } from '../support/bare-temporal.ts';
import { addDocument } from '../support/documents.ts';
import { type Figure, type Measure, toFigure } from '../support/figure.ts';
import { watchJobs } from '../support/job-watch.ts';
import { countStatements } from '../support/postgres-log.ts';
import { processorTimes } from '../support/processor-time.ts';
import { perSecond } from '../support/rounds.ts';
import type { Service } from '../support/service.ts';
import { between, readTemporalCounts } from '../support/temporal-counts.ts';

const concurrency = 20;
/** A job has succeeded before its workflow has ended. */
const settleMs = 2_000;

/** What one run costs on average, and where: counts do not depend on the machine. */
interface Costs {
  /** Temporal: completed workflow tasks. */
  tasks: number;
  /** Temporal: requests that write to its store. */
  writes: number;
  /** Temporal: calls of its API but for waits for a task. */
  calls: number;
  /** Temporal: events in the histories. */
  events: number;
  /** Our Postgres: statements. */
  statements: number;
}

const units: Record<keyof Costs, string> = {
  tasks: 'workflow tasks',
  writes: "writes to Temporal's store",
  calls: 'calls of Temporal',
  events: 'events in histories',
  statements: 'statements',
};

interface Run {
  service: Service;
  bare: BareTemporal;
  /** How often each is run. */
  times: number;
}

interface Work {
  run(index: number): Promise<unknown>;
  /** The workflows of all runs, whose events are counted. */
  workflows?: () => string[];
}

/**
 * What a job costs Temporal and Postgres, 20 at a time, compared with the least that Temporal can do for it: counts, which no noise changes.
 * The operations behind them and the processor time of each process are listed on standard error.
 */
export const costs: Measure = async (service, { quick }) => {
  const bare = await startBareTemporal(service);
  const run: Run = { service, bare, times: quick ? 20 : 100 };
  const watch = await watchJobs(service);
  const create = async (body: object) => (await service.call('POST', '/api/v1/jobs', body)).id as string;
  const documents: string[] = [];
  for (let index = 0; index < run.times; index++) documents.push(await addDocument(service, `costs ${index}`, sentence(index)));
  const jobs: string[] = [];
  const finish = async (body: object) => {
    const id = await create(body);
    jobs.push(`job-${id}`);
    await watch.finished(id);
  };
  const taken = () => jobs.splice(0);
  try {
    const one = await measure(run, 'bare workflow', { run: bare.run });
    const two = await measure(run, 'two bare workflows', { run: bare.waitAndRun });
    const embed = { organizationId: service.organizationId, kind: 'text.embed', texts: [sentence(0)] };
    return [
      ...compare('text.embed', await measure(run, 'text.embed', { run: () => finish(embed), workflows: taken }), one),
      ...compare(
        'document.index',
        await measure(run, 'document.index', {
          run: (index) => finish({ kind: 'document.index', documentId: documents[index] }),
          workflows: taken,
        }),
        one,
      ),
      ...compare(
        'from upload to searchable',
        await measure(run, 'from upload to searchable', {
          async run(index) {
            const documentId = await addDocument(service, `new ${index}`, sentence(index));
            jobs.push(`upload-${documentId}`);
            await finish({ kind: 'document.index', documentId });
          },
          workflows: taken,
        }),
        two,
      ),
    ];
  } finally {
    watch.close();
    await bare.stop();
  }
};

function sentence(index: number): string {
  return `The petals of dome ${index} open at dusk.`;
}

/** A bare workflow sends no statements, and its events are not counted. */
function compare(name: string, ours: Costs, bare: Costs): Figure[] {
  return (Object.keys(units) as (keyof Costs)[]).map((key) => {
    const known = key === 'statements' || key === 'events' ? {} : { baseline: bare[key] };
    return toFigure(`${name}: ${units[key]}`, { value: ours[key], unit: '', ...known });
  });
}

async function measure({ service, bare, times }: Run, name: string, work: Work): Promise<Costs> {
  // The first runs fill caches.
  await perSecond(concurrency, concurrency, work.run);
  work.workflows?.();
  await delay(settleMs);
  const before = await readTemporalCounts(service);
  const cpuBefore = processorTimes(service, { 'bare worker': bare.pid });
  const statements = await countStatements(service, async () => {
    await perSecond(times, concurrency, work.run);
    await delay(settleMs);
  });
  const cpu = between(cpuBefore, processorTimes(service, { 'bare worker': bare.pid }));
  const after = await readTemporalCounts(service);
  const perRun = (counts: Map<string, number>) => each(counts, times);
  const calls = perRun(between(before.calls, after.calls));
  const store = perRun(between(before.store, after.store));
  list(name, { 'processor ms': perRun(cpu), calls, store });
  const count = (of: Map<string, number>, wanted: (operation: string) => boolean) =>
    [...of].reduce((sum, [operation, number]) => sum + (wanted(operation) ? number : 0), 0);
  return {
    tasks: calls.get('RespondWorkflowTaskCompleted') ?? 0,
    writes: count(store, (operation) => !/^(Get|Read|List|Range|Lease|Describe|Count)/.test(operation)),
    calls: count(calls, (operation) => !operation.startsWith('Poll')),
    events: work.workflows ? (await countEvents(service, work.workflows())) / times : 0,
    statements: statements / times,
  };
}

function each(counts: Map<string, number>, times: number): Map<string, number> {
  return new Map([...counts].map(([name, count]) => [name, count / times]));
}

async function countEvents({ stack }: Service, workflowIds: string[]): Promise<number> {
  const connection = await Connection.connect({ address: stack.temporalAddress });
  const { workflow } = new Client({ connection });
  let events = 0;
  for (const id of workflowIds) events += (await workflow.getHandle(id).describe()).historyLength;
  await connection.close();
  return events;
}

function list(name: string, tables: Record<string, Map<string, number>>): void {
  process.stderr.write(`\n${name}\n`);
  for (const [title, counts] of Object.entries(tables)) {
    const shown = [...counts].filter(([, number]) => number >= 0.05).map(([operation, number]) => `${operation} ${number.toFixed(2)}`);
    process.stderr.write(`  ${title}: ${shown.join(', ')}\n`);
  }
}
