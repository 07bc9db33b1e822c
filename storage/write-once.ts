import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { type FileHandle, link, mkdir, open, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { finished } from 'node:stream/promises';

// Many chunks in one write make up for waiting until they are on disk.
const bufferBytes = 1024 * 1024;
const syncEveryBytes = 4 * 1024 * 1024;

/** The object exists already: nothing was written. */
export class ObjectExistsError extends Error {
  constructor() {
    super('The object exists already.');
    this.name = 'ObjectExistsError';
  }
}

export interface WriteOptions {
  /** Called with each chunk that was written, whose buffer may then be reused. */
  onWritten?: (chunk: Buffer) => void;
}

/**
 * Writes a file that appears at `target` complete and on disk, or not at all, and never replaces another. The bytes are collected in
 * `incomingDirectory`, which must be on the same file system. Throws {@link ObjectExistsError}, or what the source threw.
 */
export async function writeOnce(
  { target, incomingDirectory }: { target: string; incomingDirectory: string },
  source: AsyncIterable<Buffer>,
  options: WriteOptions = {},
): Promise<void> {
  const incoming = join(incomingDirectory, randomUUID());
  await mkdir(incomingDirectory, { recursive: true });
  // A stream that opens the file itself could still create it after a failure was cleaned up.
  const handle = await open(incoming, 'wx');
  try {
    await pour(source, handle, options);
    await publish(incoming, target);
  } finally {
    await rm(incoming, { force: true });
  }
}

/** Writes everything to the file, waits until it is on disk, and closes the handle. */
async function pour(source: AsyncIterable<Buffer>, handle: FileHandle, { onWritten }: WriteOptions): Promise<void> {
  const file = handle.createWriteStream({ flush: true, highWaterMark: bufferBytes });
  const closed = finished(file);
  // It is awaited below, but a failure while the source is idle would be an unhandled rejection.
  closed.catch(() => undefined);
  const sync = syncMeanwhile(handle, (error) => file.destroy(error));
  try {
    for await (const chunk of source) {
      const hasRoom = file.write(chunk, (error) => {
        if (error) return;
        sync.written(chunk.length);
        onWritten?.(chunk);
      });
      if (!hasRoom) await Promise.race([once(file, 'drain'), closed]);
    }
    await sync.stop();
    file.end();
    await closed;
  } catch (error) {
    // `destroy` closes the file, which no sync may be using then.
    await sync.stop();
    file.destroy();
    throw error;
  }
}

/**
 * Syncs a file to disk while more of it arrives, so that the last sync is short. `onFailure` must not be ignored: the system reports an
 * error of the disk only once, and a later sync succeeds.
 */
function syncMeanwhile(handle: FileHandle, onFailure: (error: Error) => void) {
  let unsyncedBytes = 0;
  let stopped = false;
  let running: Promise<void> | undefined;
  return {
    written(bytes: number): void {
      unsyncedBytes += bytes;
      if (stopped || running || unsyncedBytes < syncEveryBytes) return;
      unsyncedBytes = 0;
      running = handle
        .datasync()
        .catch(onFailure)
        .finally(() => {
          running = undefined;
        });
    },
    /** Starts no more syncs, and resolves when the current one has ended. */
    async stop(): Promise<void> {
      stopped = true;
      await running;
    },
  };
}

/** Gives the finished file its name. Unlike a rename, a link fails if the name exists, so that only one of two writers succeeds. */
async function publish(incoming: string, target: string): Promise<void> {
  const directory = dirname(target);
  const firstCreated = await mkdir(directory, { recursive: true });
  try {
    await link(incoming, target);
  } catch (error) {
    throw isCode(error, 'EEXIST') ? new ObjectExistsError() : error;
  }
  await syncDirectory(directory);
  if (firstCreated !== undefined) await syncDirectory(dirname(firstCreated));
}

/** Syncs the names in a directory: without it a power failure could lose an acknowledged object. */
async function syncDirectory(directory: string): Promise<void> {
  const handle = await open(directory, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/** Whether an error is a system error with this code. */
export function isCode(error: unknown, code: string): boolean {
  return error instanceof Error && 'code' in error && error.code === code;
}
