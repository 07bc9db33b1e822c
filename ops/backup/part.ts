import { createHash } from 'node:crypto';
import type { Readable } from 'node:stream';
import { OpsError } from '../context.ts';
import type { FilePart } from './manifest.ts';
import type { Place } from './place.ts';

/** Writes a file of a backup from a stream, and waits until it is kept. Returns its size and hash. */
export async function writePart(place: Place, file: string, source: AsyncIterable<Buffer | string>): Promise<FilePart> {
  const hash = createHash('sha256');
  let bytes = 0;
  async function* measure() {
    for await (const chunk of source) {
      const buffer = Buffer.from(chunk);
      hash.update(buffer);
      bytes += buffer.length;
      yield buffer;
    }
  }
  await place.write(file, measure());
  return { file, bytes, sha256: hash.digest('hex') };
}

/** The bytes of a part, from the file. */
export const readPart = (place: Place, { file }: Pick<FilePart, 'file'>): Readable => place.read(file);

const fileErrors = ['EACCES', 'EDQUOT', 'EFBIG', 'EIO', 'EISDIR', 'ENAMETOOLONG', 'ENOENT', 'ENOSPC', 'ENOTDIR', 'EPERM', 'EROFS'];

/** Whether the place of a backup refused to read or write a file: it says why in the message. */
export function isOfFiles(error: unknown): error is Error {
  return error instanceof Error && 'code' in error && fileErrors.includes(String(error.code));
}

/** Compares a part with its size and hash in the manifest. Throws OpsError if it is missing or damaged. */
export async function verifyPart(place: Place, part: FilePart): Promise<void> {
  const found = await digest(readPart(place, part)).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT' || error.code === 'ENOTDIR') throw new OpsError(`The backup is not whole: ${part.file} is missing.`);
    throw error;
  });
  if (found.bytes !== part.bytes || found.sha256 !== part.sha256) {
    throw new OpsError(`The backup is damaged: ${part.file} is not what was written (${found.bytes} of ${part.bytes} bytes).`);
  }
}

/** The size and the hash of a stream. */
export async function digest(source: AsyncIterable<Buffer>): Promise<{ bytes: number; sha256: string }> {
  const hash = createHash('sha256');
  let bytes = 0;
  for await (const chunk of source) {
    hash.update(chunk);
    bytes += chunk.length;
  }
  return { bytes, sha256: hash.digest('hex') };
}
