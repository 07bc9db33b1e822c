import { setTimeout as delay } from 'node:timers/promises';
import { sql } from 'kysely';
import type { Service } from './service.ts';

const pollMs = 250;

/** Pending work: jobs that are not final, intents in the outbox, objects to delete, and running workflows of jobs. */
interface Unfinished {
  jobs: number;
  intents: number;
  objects: number;
  workflows: number;
}

/** Waits until no work is pending, or nothing has changed for `limitMs`. Returns what is pending then, and how long it took. */
export async function recover(service: Service, limitMs: number): Promise<{ unfinished: Unfinished; seconds: number }> {
  const startedAt = performance.now();
  let changedAt = startedAt;
  let before = '';
  for (;;) {
    const unfinished = await measure(service).catch(() => undefined);
    const now = performance.now();
    const seconds = Math.round((now - startedAt) / 100) / 10;
    // Progress resets the limit, because a slow machine is not a stuck service.
    const current = JSON.stringify(unfinished);
    if (unfinished && current !== before) changedAt = now;
    before = current;
    if (unfinished && sum(unfinished) === 0) return { unfinished, seconds };
    if (now - changedAt > limitMs) {
      return { unfinished: unfinished ?? { jobs: 1, intents: 0, objects: 0, workflows: 0 }, seconds };
    }
    await delay(pollMs);
  }
}

/** The total of pending work. */
export function sum({ jobs, intents, objects, workflows }: Unfinished): number {
  return jobs + intents + objects + workflows;
}

async function measure({ db, temporal }: Service): Promise<Unfinished> {
  const { rows } = await sql<Omit<Unfinished, 'workflows'>>`
    select (select count(*) from job where status in ('queued', 'running')) as jobs,
      (select count(*) from outbox) as intents,
      (select count(*) from object_to_delete) as objects
  `.execute(db);
  const { jobs = 0, intents = 0, objects = 0 } = rows[0] ?? {};
  if (jobs + intents + objects > 0) return { jobs, intents, objects, workflows: 0 };
  const { count } = await temporal.withDeadline(Date.now() + 5_000, () =>
    temporal.workflow.count("WorkflowType = 'runJob' and ExecutionStatus = 'Running'"),
  );
  return { jobs, intents, objects, workflows: count };
}
