import { Gauge, type Registry } from 'prom-client';
import { late, within } from '../../base/concurrency/within.ts';

interface Queue {
  kind: string;
  queued: number;
  oldestSeconds: number;
}

/** Other backlogs of the whole platform. An age is null if nothing waits. */
interface Waiting {
  outbox: { size: number; oldestSeconds: number | null };
  objectsToDelete: { size: number; refused: number; oldestSeconds: number | null };
  mails: { size: number; refused: number; oldestSeconds: number | null };
  webhooks: { size: number; oldestSeconds: number | null; failingEndpoints: number };
  outageSeconds: number | null;
  backupSeconds: number | null;
}

/** Sessions of the database that wait for a lock. */
interface LockWaits {
  waiting: number;
  oldestSeconds: number | null;
}

interface WatchBacklogOptions {
  /** Every kind is shown, also if none is queued. */
  kinds: readonly string[];
  /** Each is read by itself: a lock on the table of one hides no other. `locks` reads no table that could be locked. */
  read: { queues(): Promise<Queue[]>; waiting(): Promise<Waiting>; locks(): Promise<LockWaits> };
  /** How long the measured values are reused, in milliseconds. */
  freshMs?: number;
  /** How long a scrape waits for the database, in milliseconds. */
  patienceMs?: number;
}

/**
 * Shows what waits, as the database has it. Returns what a scrape calls first. What the database does not tell in time has no value, since
 * nothing old is shown; if it does not tell even its own sessions, `sheaf_backlog_readable` is 0.
 */
export function watchBacklog(registry: Registry, { kinds, read, freshMs = 5_000, patienceMs = 2_000 }: WatchBacklogOptions) {
  const times = { freshMs, patienceMs };
  const parts = [
    watchPart(read.queues, showQueues(registry, kinds), times),
    watchPart(read.waiting, showWaiting(registry), times),
    watchPart(read.locks, showLocks(registry), times),
  ];
  return async (): Promise<void> => {
    await Promise.all(parts.map((refresh) => refresh()));
  };
}

interface Shown<T> {
  set(value: T): void;
  clear(): void;
}

/** Only one read is under way at a time. */
function watchPart<T>(
  read: () => Promise<T>,
  shown: Shown<T>,
  { freshMs, patienceMs }: { freshMs: number; patienceMs: number },
): () => Promise<void> {
  let reading: Promise<void> | undefined;
  let readAt = Number.NEGATIVE_INFINITY;

  async function readNow(): Promise<void> {
    try {
      shown.set(await read());
      readAt = performance.now();
    } catch {
      shown.clear();
    } finally {
      reading = undefined;
    }
  }

  return async () => {
    if (performance.now() - readAt < freshMs) return;
    reading ??= readNow();
    if ((await within(patienceMs, reading)) === late) shown.clear();
  };
}

function gaugesOf(registry: Registry) {
  return (name: string, help: string, labelNames: string[] = []) => new Gauge({ name, help, labelNames, registers: [registry] });
}

function showQueues(registry: Registry, kinds: readonly string[]): Shown<Queue[]> {
  const gauge = gaugesOf(registry);
  const queued = gauge('sheaf_queue_jobs', 'Queued jobs that are due; of the first million queued ones', ['kind']);
  const age = gauge('sheaf_queue_oldest_seconds', 'For how long the job that is due for longest has been due', ['kind']);
  return {
    set(queues) {
      for (const kind of kinds) {
        const queue = queues.find((each) => each.kind === kind);
        queued.set({ kind }, queue?.queued ?? 0);
        age.set({ kind }, queue?.oldestSeconds ?? 0);
      }
    },
    clear() {
      for (const byKind of [queued, age]) byKind.reset();
    },
  };
}

/** What is shown of the other backlogs: the name, its meaning, and the number, which is 0 if there is none. */
const ofWaiting: [name: string, help: string, read: (waiting: Waiting) => number | null][] = [
  ['sheaf_outbox_intents', 'Intents that Temporal has not taken, up to a million', ({ outbox }) => outbox.size],
  ['sheaf_outbox_oldest_seconds', 'The age of the oldest intent that Temporal has not taken', ({ outbox }) => outbox.oldestSeconds],
  ['sheaf_objects_to_delete', 'Stored objects whose rows are gone, up to a million', (waiting) => waiting.objectsToDelete.size],
  [
    'sheaf_objects_refused',
    'Stored objects that the store refused to delete at least once, up to a million',
    (waiting) => waiting.objectsToDelete.refused,
  ],
  [
    'sheaf_objects_to_delete_oldest_seconds',
    'For how long the oldest object has waited for its deletion',
    (waiting) => waiting.objectsToDelete.oldestSeconds,
  ],
  ['sheaf_mails_waiting', 'Mails that are to be sent, without those that were refused for good or are held', ({ mails }) => mails.size],
  ['sheaf_mails_refused', 'Mails that are to be sent, and that the mail server did not take at least once', ({ mails }) => mails.refused],
  ['sheaf_mails_oldest_seconds', 'The age of the oldest mail that is to be sent', ({ mails }) => mails.oldestSeconds],
  ['sheaf_webhooks_waiting', 'Deliveries to webhook endpoints that wait, up to a million', ({ webhooks }) => webhooks.size],
  [
    'sheaf_webhooks_oldest_seconds',
    'For how long the delivery that is due for longest has been due, without those that are held',
    ({ webhooks }) => webhooks.oldestSeconds,
  ],
  [
    'sheaf_outage_seconds',
    'For how long the AI service or the provider of a role has been down; 0 if none is',
    ({ outageSeconds }) => outageSeconds,
  ],
  [
    'sheaf_backup_age_seconds',
    'The age of the latest backup by the command `backup`; 0 if there was none',
    ({ backupSeconds }) => backupSeconds,
  ],
  ['sheaf_webhooks_failing_endpoints', 'Enabled webhook endpoints that fail now', ({ webhooks }) => webhooks.failingEndpoints],
];

function showWaiting(registry: Registry): Shown<Waiting> {
  const gauge = gaugesOf(registry);
  const values = ofWaiting.map(([name, help, read]) => ({ shown: gauge(name, help), read }));
  return {
    set(waiting) {
      for (const { shown, read } of values) shown.set(read(waiting) ?? 0);
    },
    clear() {
      for (const { shown } of values) shown.remove();
    },
  };
}

function showLocks(registry: Registry): Shown<LockWaits> {
  const gauge = gaugesOf(registry);
  const readable = gauge('sheaf_backlog_readable', 'Whether the database responds to the questions for these metrics: 1 or 0');
  const lockWaits = gauge('sheaf_lock_waiting', 'Sessions of the database that wait for a lock');
  const lockAge = gauge('sheaf_lock_oldest_seconds', 'For how long the session that waits longest for a lock has waited');
  return {
    set({ waiting, oldestSeconds }) {
      readable.set(1);
      lockWaits.set(waiting);
      lockAge.set(oldestSeconds ?? 0);
    },
    clear() {
      readable.set(0);
      for (const shown of [lockWaits, lockAge]) shown.remove();
    },
  };
}
