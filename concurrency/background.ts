import { writeFile } from 'node:fs/promises';
import { setPriority } from 'node:os';
import { setTimeout as delay } from 'node:timers/promises';

/** Gets about a third of the processor time of another program, if both want all of it. */
const niceness = 5;
const tries = 5;
/** Without privileges the niceness of a group may be set only once in this time, whoever sets it. */
const betweenMs = 100;

/**
 * Lets a process that was just started, with a session of its own, come after others (docs/decisions/priorities.md). Does nothing where that
 * is not possible.
 */
export async function putInBackground(pid: number): Promise<void> {
  try {
    // Its threads, which it has not yet started, inherit this.
    setPriority(pid, niceness);
  } catch {
    // It has ended.
    return;
  }
  for (let attempt = 1; attempt <= tries; attempt += 1) {
    const error = await writeFile(`/proc/${pid}/autogroup`, String(niceness), { flag: 'r+' }).catch(
      (error: NodeJS.ErrnoException) => error,
    );
    if (error?.code !== 'EAGAIN') return;
    await delay(betweenMs, undefined, { ref: false });
  }
}
