import type { Logger } from 'pino';
import type { Db } from '../db/connect.ts';
import { findLogLevel } from '../domain/platform/log-level.ts';

const askMs = 2_000;

/**
 * Returns what gives a log the level that an operator has set, or its own again. Call it often: it asks the database every two seconds. While
 * that fails the level stays: the relay, which calls it, has more important work.
 */
export function followLogLevel(log: Logger, db: Db): () => Promise<void> {
  const own = log.level;
  let askedAt = Number.NEGATIVE_INFINITY;
  return async () => {
    if (performance.now() - askedAt < askMs) return;
    askedAt = performance.now();
    const set = await findLogLevel(db).catch(() => undefined);
    const level = set === null ? own : set?.level;
    if (level === undefined || level === log.level) return;
    log.level = level;
    // Written at every level, since it says why other lines come or stay away.
    log.child({}, { level: 'info' }).info({ logLevel: level }, 'the log level changes');
  };
}
