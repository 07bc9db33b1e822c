import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { type FileHandle, link, mkdir, open, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { finished } from 'node:stream/promises';

// Enough to write many chunks in one call, which makes up for waiting until they are on disk.
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
  /** Called with each chunk once the store no longer needs it, unless the write fails. */
  onWritten?: (chunk: Buffer) => void;
}

/**
 * Writes a file that appears at `target` whole and on disk, or not at all, and never replaces another. The bytes are collected in
 * `incomingDirectory`, which must lie on the same filesystem. Throws {@link ObjectExistsError}, or what the source threw.
 */
export async function writeOnce(
  place: { target: string; incomingDirectory: string },
  source: AsyncIterable<Buffer>,
  options: WriteOptions = {},
): Promise<void> {
  const incoming = join(place.incomingDirectory, randomUUID());
  await mkdir(place.incomingDirectory, { recursive: true });
  // Opened before the stream is made: a stream that opens its own file may still create it after a failure was cleaned up.
  const handle = await open(incoming, 'wx');
  try {
    await pour(source, handle, options);
    await publish(incoming, place.target);
  } finally {
    await rm(incoming, { force: true });
  }
}

/** Writes everything to the file, waits until it is on disk, and closes the handle. */
async function pour(source: AsyncIterable<Buffer>, handle: FileHandle, { onWritten }: WriteOptions): Promise<void> {
  const file = handle.createWriteStream({ flush: true, highWaterMark: bufferBytes });
  const closed = finished(file);
  // Awaited below; without this a failure while the source has nothing to give would count as unhandled.
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
    // The stream closes the file, which nothing may be using then.
    await sync.stop();
    file.destroy();
    throw error;
  }
}

/**
 * Puts a file on disk part by part while more of it comes in, so that little is left to wait for at its end. A part that the disk refuses
 * is reported here only: the system tells of it once, and a later flush succeeds.
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
    /** Resolves when the file is no longer being synced; it is not begun again. */
    async stop(): Promise<void> {
      stopped = true;
      await running;
    },
  };
}

/** Gives the finished file its name. A link, unlike a rename, fails where the name is taken, so that of two writers one wins. */
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

/** Puts a directory's names on disk: without it a power cut forgets an object that was already acknowledged. */
async function syncDirectory(directory: string): Promise<void> {
  const handle = await open(directory, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/** Says whether an error is a system error of this code. */
export function isCode(error: unknown, code: string): boolean {
  return error instanceof Error && 'code' in error && error.code === code;
}
