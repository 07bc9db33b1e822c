import { existsSync, mkdirSync, readFileSync, realpathSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as delay } from 'node:timers/promises';
import { commandOf } from './supervise.ts';

const leftoverWaitMs = 10_000;

/** The process that holds a data directory, its guard, and the addresses of its service once that is ready. */
interface Holder {
  pid: number;
  guardPid: number;
  apiUrl?: string;
  temporalUiUrl?: string | undefined;
}

/** The lock of this process on a data directory. */
interface Claim extends Lock {
  /** Records the holder, for later starts and for the demo. */
  record(holder: Omit<Holder, 'pid'>): void;
}

/**
 * Makes the data directory, for this user only, if it is absent. Returns its real path. Throws an error for the user if it cannot be made.
 */
export function makeDataDir(path: string): string {
  try {
    mkdirSync(path, { recursive: true, mode: 0o700 });
    return realpathSync(path);
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    throw new Error(`The data directory ${path} cannot be made (${code}). Choose another DATA_DIR.`, { cause });
  }
}

/**
 * Makes the data directory if it is absent, and locks it for this process. If the last start was killed, waits until its guard has ended
 * its processes. Throws an error for the user if another start holds the directory.
 */
export async function claimDataDir(dataDir: string): Promise<Claim> {
  makeDataDir(dataDir);
  const file = join(dataDir, 'running.json');
  const lock = tryLock(join(dataDir, 'lock'));
  const before = readRecord(file);
  if (!lock) {
    const who = before ? ` (process ${before.pid})` : '';
    throw new Error(`Sheaf already runs on ${dataDir}${who}. Stop it first, or choose another DATA_DIR, and other ports.`);
  }
  await untilGuardIsGone(before?.guardPid);
  return { ...lock, record: (holder) => writeFileSync(file, JSON.stringify({ pid: process.pid, ...holder })) };
}

/** The recorded holder of the data directory; undefined if there is none. */
export function findHolder(dataDir: string): Partial<Holder> | undefined {
  if (!existsSync(join(dataDir, 'lock'))) return undefined;
  const lock = tryLock(join(dataDir, 'lock'));
  lock?.release();
  return lock ? undefined : (readRecord(join(dataDir, 'running.json')) ?? {});
}

async function untilGuardIsGone(guardPid: number | undefined): Promise<void> {
  const deadline = performance.now() + leftoverWaitMs;
  while (guardPid && commandOf(guardPid)?.includes('guard.sh') && performance.now() < deadline) await delay(100);
}

function readRecord(file: string): Holder | undefined {
  if (!existsSync(file)) return undefined;
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as Holder;
  } catch {
    // The record is not essential, so one that is half written counts as none.
    return undefined;
  }
}

/** A lock that the system releases when this process ends, in whatever way. */
interface Lock {
  release(): void;
}

const busy = 5;

/**
 * Locks a file; undefined if another process holds the lock. Node has no file locks, but SQLite's exclusive transaction is one; unlike a
 * file with a process id in it, it cannot be stale. Throws an error for the user if the file can be neither opened nor locked.
 */
function tryLock(path: string): Lock | undefined {
  let database: DatabaseSync | undefined;
  try {
    database = new DatabaseSync(path);
    database.exec('begin exclusive');
    return { release: () => database?.close() };
  } catch (cause) {
    database?.close();
    const { errcode, message } = cause as Error & { errcode?: number };
    if (errcode === busy) return undefined;
    const causes = "Is the disk full, the directory read-only or another user's, the file damaged?";
    throw new Error(`The lock ${path} cannot be used (${message}). ${causes}`, { cause });
  }
}
