import { setTimeout as delay } from 'node:timers/promises';
import type { Db } from '../../db/connect.ts';
import { type FeedPosition, hasEntries, readAuditFeed } from '../../domain/audit-feed.ts';

const pauseMs = 1_000;

interface Wait {
  maxMs: number;
  signal: AbortSignal;
  /** Whether to wait no longer. */
  isOver(): boolean;
}

/** Reads as {@link readAuditFeed}, and if there is nothing, waits for the next entries. Throws the signal's reason. */
export async function awaitAuditFeed(db: Db, position: FeedPosition, { maxMs, signal, isOver }: Wait) {
  const until = performance.now() + maxMs;
  let entries = await readAuditFeed(db, position);
  while (entries.length === 0 && performance.now() < until && !isOver()) {
    await delay(pauseMs, undefined, { signal }).catch(() => signal.throwIfAborted());
    // Reading would lock the numbers of the organization each time.
    if (await hasEntries(db, position)) entries = await readAuditFeed(db, position);
  }
  return entries;
}
