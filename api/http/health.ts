import type { RequestHandler } from 'express';
import type { Db } from '../../db/connect.ts';
import { ping } from '../../db/connect.ts';

const readinessTimeoutMs = 2_000;

/** Liveness: the process serves HTTP. */
export const healthz: RequestHandler = (_req, res) => {
  res.json({ status: 'ok' });
};

/** Whether the process is about to end: it still serves, but nothing new should be sent to it. */
export interface Readiness {
  stopping: boolean;
}

/** Readiness: 200 if the database responds within 2 s and the process does not stop, otherwise 503 with the reason. */
export function readyz(db: Db, readiness: Readiness): RequestHandler {
  return async (_req, res) => {
    if (readiness.stopping) return void res.status(503).json({ status: 'unavailable', checks: { process: 'stopping' } });
    const database = await probe(db);
    if (database === 'ok') res.json({ status: 'ok' });
    else res.status(503).json({ status: 'unavailable', checks: { database } });
  };
}

async function probe(db: Db): Promise<'ok' | 'timeout' | 'unreachable'> {
  const responded = ping(db).then(
    () => 'ok' as const,
    () => 'unreachable' as const,
  );
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<'timeout'>((resolve) => {
    timer = setTimeout(() => resolve('timeout'), readinessTimeoutMs);
  });
  return Promise.race([responded, late]).finally(() => clearTimeout(timer));
}
