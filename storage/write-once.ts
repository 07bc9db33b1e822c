import { randomUUID } from 'node:crypto';
import { link, mkdir, open, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { pipeline } from 'node:stream/promises';

// Measured: writes of several chunks at once keep up with a bare server, and twenty uploads at once still fit into a few megabytes.
const bufferBytes = 512 * 1024;

/** The object exists already: nothing was written. */
export class ObjectExistsError extends Error {
  constructor() {
    super('The object exists already.');
    this.name = 'ObjectExistsError';
  }
}

/**
 * Writes a file that appears at `target` whole and on disk, or not at all, and never replaces another. The bytes are collected in
 * `incomingDirectory`, which must lie on the same filesystem. Throws {@link ObjectExistsError}, or what the source threw.
 */
export async function writeOnce(input: { source: AsyncIterable<Buffer>; target: string; incomingDirectory: string }): Promise<void> {
  const incoming = join(input.incomingDirectory, randomUUID());
  await mkdir(input.incomingDirectory, { recursive: true });
  // Opened before the stream is made: a stream that opens its own file may still create it after a failure was cleaned up.
  const handle = await open(incoming, 'wx');
  try {
    await pipeline(input.source, handle.createWriteStream({ flush: true, highWaterMark: bufferBytes }));
    await publish(incoming, input.target);
  } finally {
    await rm(incoming, { force: true });
  }
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

export function isCode(error: unknown, code: string): boolean {
  return error instanceof Error && 'code' in error && error.code === code;
}
