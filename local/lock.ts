import { DatabaseSync } from 'node:sqlite';

/** A lock that the system itself lets go when this process ends, in whatever way. */
export interface Lock {
  release(): void;
}

const busy = 5;

/**
 * Takes the lock that a file stands for; undefined while another process holds it. Node has no file locks of its own: SQLite's
 * exclusive transaction is one, and unlike a file with a process id in it, it cannot be stale.
 */
export function tryLock(path: string): Lock | undefined {
  const database = new DatabaseSync(path);
  try {
    database.exec('begin exclusive');
    return { release: () => database.close() };
  } catch (error) {
    database.close();
    if ((error as { errcode?: number }).errcode === busy) return undefined;
    throw error;
  }
}
