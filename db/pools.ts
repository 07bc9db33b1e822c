import { setTimeout as delay } from 'node:timers/promises';
import { createPool, type Pool } from './connect.ts';

interface ProcessPoolsOptions {
  /** `pooled`: the URL leads to a pooler in transaction mode. */
  database: { url: string; pooled: boolean; poolSize: number };
  /** The name of the process in Postgres: `sheaf api`. */
  name: string;
  /** Whether it also runs the steps of workflows. */
  runsWorker: boolean;
  /** An idle connection was lost. */
  onError(error: Error): void;
}

/** The connections of a process that serves requests. Each class of work has its own, so that none waits for another's. */
interface ProcessPools {
  sessions: Pool;
  requests: Pool;
  /** Undefined if the process runs no steps of workflows. */
  worker: Pool | undefined;
  /** Closes all of them. Does not wait for a database that does not respond. */
  end(): Promise<void>;
}

const sessionsFraction = 0.15;
const workerFraction = 0.3;
const endMs = 2_000;

/** Opens the pools of a process, which have `poolSize` connections together. */
export function openPools({ database, name, runsWorker, onError }: ProcessPoolsOptions): ProcessPools {
  const { url, pooled, poolSize } = database;
  const sizes = dividePool(poolSize, runsWorker);
  const shared = { url, pooled, name, onError };
  const sessions = createPool({ ...shared, poolSize: sizes.sessions, work: 'session' });
  const requests = createPool({ ...shared, poolSize: sizes.requests, work: 'request' });
  const worker = sizes.worker > 0 ? createPool({ ...shared, poolSize: sizes.worker, work: 'worker' }) : undefined;
  return { sessions, requests, worker, end: () => endPools([sessions, requests, ...(worker ? [worker] : [])]) };
}

/** Ends pools, without waiting for a database that does not respond. */
export async function endPools(pools: readonly Pool[]): Promise<void> {
  const patience = new AbortController();
  const ended = Promise.allSettled(pools.map((pool) => pool.end()));
  await Promise.race([ended, delay(endMs, undefined, { signal: patience.signal }).catch(() => {})]);
  patience.abort();
}

/** The number of connections for each class of work, at least one each. Requests get the rest. */
function dividePool(poolSize: number, runsWorker: boolean): { sessions: number; requests: number; worker: number } {
  const sessions = Math.max(1, Math.floor(poolSize * sessionsFraction));
  const worker = runsWorker ? Math.max(1, Math.floor(poolSize * workerFraction)) : 0;
  return { sessions, worker, requests: poolSize - sessions - worker };
}
