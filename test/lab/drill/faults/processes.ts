import { setTimeout as delay } from 'node:timers/promises';
import type { ServiceName } from '../../../../ops/local/stack.ts';
import { startBeside } from '../../start-beside.ts';
import type { Fault, FaultContext } from '../fault.ts';

/** The worker is killed while it works, and another one starts. */
export const workerKilled: Fault = {
  name: 'worker-killed',
  runs: { full: 3, short: 1 },
  inject: async (context) => {
    await untilRunning(context, 2);
    await restart(context, 'worker', 500);
    return undefined;
  },
};

/**
 * The worker is suspended for longer than its heartbeats allow, another one takes its jobs, and it wakes up in the middle of
 * attempts that are presumed lost: their results must not count.
 */
export const workerFrozen: Fault = {
  name: 'worker-frozen',
  runs: { full: 1, short: 0 },
  inject: async (context) => {
    const { stack } = context.service;
    await untilRunning(context, 2);
    stack.signal('worker', 'SIGSTOP');
    const other = await startBeside(stack, 'worker');
    await delay(20_000);
    stack.signal('worker', 'SIGCONT');
    await delay(2_000);
    await other.stop();
    return undefined;
  },
};

/** The AI service is killed while it reads documents. */
export const aiKilled: Fault = {
  name: 'ai-killed',
  runs: { full: 2, short: 0 },
  inject: async (context) => {
    await restart(context, 'ai', 2_000);
    return undefined;
  },
};

/** Postgres is killed with all connections and without a checkpoint, and recovers from its log. */
export const postgresCrashed: Fault = {
  name: 'postgres-crashed',
  runs: { full: 2, short: 1 },
  inject: async (context) => {
    await restart(context, 'postgres', 2_000, 'SIGQUIT');
    return undefined;
  },
};

/** Temporal is down for a minute, while the tenants go on. */
export const temporalAway: Fault = {
  name: 'temporal-away',
  runs: { full: 1, short: 1 },
  inject: async (context) => {
    await restart(context, 'temporal', context.short ? 10_000 : 60_000);
    return undefined;
  },
};

/** Kills a service, and starts it again after a while. */
export async function restart(
  { service: { stack } }: FaultContext,
  service: ServiceName,
  awayMs: number,
  signal: NodeJS.Signals = 'SIGKILL',
) {
  await stack.kill(service, signal);
  await delay(awayMs);
  await stack.start(service);
}

/** Waits until `atLeast` jobs are running, for 10 s at most. */
export async function untilRunning({ service: { db } }: FaultContext, atLeast: number): Promise<void> {
  for (const deadline = Date.now() + 10_000; Date.now() < deadline; await delay(20)) {
    const running = await db.selectFrom('job').select('id').where('status', '=', 'running').execute();
    if (running.length >= atLeast) return;
  }
}

const burst = 12;

/**
 * The API is killed in the middle of a burst of `jobs.create`: some requests have committed, but their intents have not reached
 * Temporal; the response of others is lost, and they are sent again. Each run kills it at another moment.
 */
export const apiKilled: Fault = {
  name: 'api-killed',
  runs: { full: 8, short: 2 },
  async inject({ service: { stack }, tenants }) {
    const requests = tenants.flatMap((tenant) =>
      Array.from({ length: burst / tenants.length }, () => tenant.createJob({ kind: 'text.embed' })),
    );
    for (const request of requests) request.catch(() => {});
    await delay(Math.random() * 80);
    await stack.kill('api');
    await stack.start('api');
    await Promise.all(requests);
    return undefined;
  },
};
