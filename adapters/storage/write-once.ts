import { randomUUID } from 'node:crypto';
import { type FileHandle, link, mkdir, open, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';

/** Thrown if the object exists already. Nothing was written. */
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
 * `incomingDirectory`, which must be on the same file system. Throws {@link ObjectExistsError} or the source's error.
 */
export async function writeOnce(
  { target, incomingDirectory }: { target: string; incomingDirectory: string },
  source: AsyncIterable<Buffer>,
  options: WriteOptions = {},
): Promise<void> {
  const incoming = join(incomingDirectory, randomUUID());
  await mkdir(incomingDirectory, { recursive: true });
  const handle = await open(incoming, 'wx');
  try {
    await pour(source, handle, options).finally(() => handle.close());
    await publish(incoming, target);
  } finally {
    await rm(incoming, { force: true });
  }
}

/** Writes everything to the file, and waits until it is on disk. */
async function pour(source: AsyncIterable<Buffer>, handle: FileHandle, { onWritten }: WriteOptions): Promise<void> {
  for await (const chunk of source) {
    // Appends to the earlier chunks.
    await handle.writeFile(chunk);
    onWritten?.(chunk);
  }
  await handle.sync();
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
