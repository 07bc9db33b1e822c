import { Gauge, type Registry } from 'prom-client';
import { late, within } from '../concurrency/within.ts';

/** The backlogs of the whole platform. An age is null if nothing waits. */
interface PlatformBacklog {
  queues: { kind: string; queued: number; oldestSeconds: number }[];
  outbox: { size: number; oldestSeconds: number | null };
  objectsToDelete: { size: number; refused: number; oldestSeconds: number | null };
  mails: { size: number; refused: number; oldestSeconds: number | null };
  /** Sessions of the database that wait for a lock. */
  locks: { waiting: number; oldestSeconds: number | null };
}

interface WatchBacklogOptions {
  /** Every kind is shown, also if none is queued. */
  kinds: readonly string[];
  read: () => Promise<PlatformBacklog>;
  /** How long the measured values are reused, in milliseconds. */
  freshMs?: number;
  /** How long a scrape waits for the database, in milliseconds. */
  patienceMs?: number;
}

/**
 * Shows what waits, as the database has it. Returns what a scrape calls first. While the database does not respond, nothing old is shown:
 * `sheaf_backlog_readable` is 0 and the others have no value. Only one read is under way at a time.
 */
export function watchBacklog(registry: Registry, options: WatchBacklogOptions): () => Promise<void> {
  const { read, freshMs = 5_000, patienceMs = 2_000 } = options;
  const gauges = createGauges(registry, options.kinds);
  let reading: Promise<void> | undefined;
  let readAt = Number.NEGATIVE_INFINITY;

  async function readNow(): Promise<void> {
    try {
      gauges.set(await read());
      readAt = performance.now();
    } catch {
      gauges.clear();
    } finally {
      reading = undefined;
    }
  }

  return async () => {
    if (performance.now() - readAt < freshMs) return;
    reading ??= readNow();
    if ((await within(patienceMs, reading)) === late) gauges.clear();
  };
}

function createGauges(registry: Registry, kinds: readonly string[]) {
  const gauge = (name: string, help: string, labelNames: string[] = []) => new Gauge({ name, help, labelNames, registers: [registry] });
  const readable = gauge('sheaf_backlog_readable', 'Whether the database told what waits: 1 or 0');
  const queued = gauge('sheaf_queue_jobs', 'Queued jobs that are due; of the first million queued ones', ['kind']);
  const age = gauge('sheaf_queue_oldest_seconds', 'For how long the job that is due for longest has been due', ['kind']);
  const intents = gauge('sheaf_outbox_intents', 'Intents that Temporal has not taken, up to a million');
  const intentAge = gauge('sheaf_outbox_oldest_seconds', 'The age of the oldest intent that Temporal has not taken');
  const objects = gauge('sheaf_objects_to_delete', 'Stored objects whose rows are gone, up to a million');
  const refused = gauge('sheaf_objects_refused', 'Stored objects that the store refused to delete at least once, up to a million');
  const objectAge = gauge('sheaf_objects_to_delete_oldest_seconds', 'For how long the oldest object has waited for its deletion');
  const mailsLeft = gauge('sheaf_mails_waiting', 'Mails that are to be sent, without those that were refused for good or are held');
  const mailsRefused = gauge('sheaf_mails_refused', 'Mails that are to be sent, and that the mail server did not take at least once');
  const mailAge = gauge('sheaf_mails_oldest_seconds', 'The age of the oldest mail that is to be sent');
  const lockWaits = gauge('sheaf_lock_waiting', 'Sessions of the database that wait for a lock');
  const lockAge = gauge('sheaf_lock_oldest_seconds', 'For how long the session that waits longest for a lock has waited');
  return {
    set({ queues, outbox, objectsToDelete, mails, locks }: PlatformBacklog): void {
      readable.set(1);
      for (const kind of kinds) {
        const queue = queues.find((each) => each.kind === kind);
        queued.set({ kind }, queue?.queued ?? 0);
        age.set({ kind }, queue?.oldestSeconds ?? 0);
      }
      intents.set(outbox.size);
      intentAge.set(outbox.oldestSeconds ?? 0);
      objects.set(objectsToDelete.size);
      refused.set(objectsToDelete.refused);
      objectAge.set(objectsToDelete.oldestSeconds ?? 0);
      mailsLeft.set(mails.size);
      mailsRefused.set(mails.refused);
      mailAge.set(mails.oldestSeconds ?? 0);
      lockWaits.set(locks.waiting);
      lockAge.set(locks.oldestSeconds ?? 0);
    },
    clear(): void {
      readable.set(0);
      for (const byKind of [queued, age]) byKind.reset();
      const ofMails = [mailsLeft, mailsRefused, mailAge];
      for (const single of [intents, intentAge, objects, refused, objectAge, ...ofMails, lockWaits, lockAge]) single.remove();
    },
  };
}
