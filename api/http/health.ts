import type { RequestHandler } from 'express';
import type { Logger } from 'pino';
import { late, within } from '../../base/concurrency/within.ts';
import type { Db } from '../../db/connect.ts';
import { ping } from '../../db/connect.ts';

const readinessTimeoutMs = 2_000;

/** Liveness: the process serves HTTP. */
export const healthz: RequestHandler = (_req, res) => {
  res.json({ status: 'ok' });
};

/** Whether the process is about to stop: it still serves, but should get no new requests. */
export interface Readiness {
  stopping: boolean;
}

/**
 * Readiness: 200 if the database responds within 2 s, otherwise 503 with the reason; 503 without one while the process stops. Concurrent
 * requests share one database query, since anybody may ask any number of times.
 */
export function readyz(db: Db, readiness: Readiness, log: Pick<Logger, 'warn'>): RequestHandler {
  let isAway = false;
  /** The response says only that the database is away: the cause, such as a refused password, is for operators. */
  const tell = (err: unknown) => {
    if (!isAway) log.warn({ err }, 'the database cannot be reached; this process is not ready');
    isAway = true;
  };
  let probing: ReturnType<typeof probe> | undefined;
  return async (_req, res) => {
    if (readiness.stopping) return void res.status(503).json({ status: 'unavailable' });
    probing ??= probe(db, tell).finally(() => {
      probing = undefined;
    });
    const database = await probing;
    if (database === 'ok') isAway = false;
    if (database === 'ok') res.json({ status: 'ok' });
    else res.status(503).json({ status: 'unavailable', checks: { database } });
  };
}

async function probe(db: Db, tell: (error: unknown) => void): Promise<'ok' | 'timeout' | 'unreachable'> {
  const responded = ping(db).then(
    () => 'ok' as const,
    (error: unknown) => {
      tell(error);
      return 'unreachable' as const;
    },
  );
  const database = await within(readinessTimeoutMs, responded);
  return database === late ? 'timeout' : database;
}
