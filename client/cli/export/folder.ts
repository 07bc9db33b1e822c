import { createHash } from 'node:crypto';
import { createReadStream, createWriteStream } from 'node:fs';
import { access, mkdir, rename, rm, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import type { Client, Document } from '../../index.ts';
import { safePath } from './safe-name.ts';

/** The folder of an export. Paths are within it. */
export interface Folder {
  /** Whether a file is there; with a hash, whether it is this one. */
  has(path: string, sha256?: string): Promise<boolean>;
  /** Fetches what was uploaded. A file that is there and differs is left, and the new one gets a path of its own. */
  fetchOriginal(document: Document): Promise<{ original: string; sha256: string }>;
  /** Writes the text of an original, over an earlier one. */
  writeText(original: string, text: string): Promise<string>;
}

interface FolderOptions {
  client: Client;
  directory: string;
  onReceived: (bytes: number) => void;
}

export function createFolder({ client, directory, onReceived }: FolderOptions): Folder {
  const at = (path: string) => join(directory, path);
  let placed: Promise<unknown> = Promise.resolve();

  async function has(path: string, sha256?: string): Promise<boolean> {
    if (sha256 !== undefined) return (await hashOf(at(path)).catch(() => undefined)) === sha256;
    return await access(at(path)).then(
      () => true,
      () => false,
    );
  }

  /** Moves a whole file to a path, unless there is another one. */
  async function place(part: string, path: string, sha256: string): Promise<boolean> {
    if (await has(path)) return await has(path, sha256);
    // A file may be where a folder has to be.
    const made = await mkdir(dirname(at(path)), { recursive: true }).catch(() => false);
    if (made === false) return false;
    await rename(part, at(path));
    return true;
  }

  async function placeOriginal(part: string, { id, name }: Document, sha256: string): Promise<string> {
    const path = safePath(name);
    for (const original of [`originals/${path}`, `originals/${id}/${basename(path)}`])
      if (await place(part, original, sha256)) return original;
    throw new Error(`Other files are where it belongs: remove them from originals/${id}.`);
  }

  async function fetchOriginal(document: Document): Promise<{ original: string; sha256: string }> {
    const part = at(`.${document.id}.part`);
    try {
      const { url } = await client.documents.downloadUrl({ id: document.id });
      const sha256 = await download(url, part, onReceived);
      // One after the other, so that none comes between the look at a path and the move.
      const moved = placed.then(() => placeOriginal(part, document, sha256));
      placed = moved.catch(() => undefined);
      return { original: await moved, sha256 };
    } finally {
      await rm(part, { force: true });
    }
  }

  async function writeText(original: string, text: string): Promise<string> {
    const path = `${original.replace(/^originals/, 'texts')}.txt`;
    await mkdir(dirname(at(path)), { recursive: true });
    const part = `${at(path)}.part`;
    await writeFile(part, text);
    await rename(part, at(path));
    return path;
  }

  return { has, fetchOriginal, writeText };
}

/** Writes what is at a URL to a file, and returns its SHA-256 in hex. */
async function download(url: string, file: string, onReceived: (bytes: number) => void): Promise<string> {
  const hash = createHash('sha256');
  try {
    const response = await fetch(url);
    if (!response.ok || response.body === null) throw new Error(`it answered ${response.status}`);
    const count = async function* (pieces: AsyncIterable<Uint8Array>) {
      for await (const piece of pieces) {
        hash.update(piece);
        onReceived(piece.byteLength);
        yield piece;
      }
    };
    await pipeline(response.body, count, createWriteStream(file));
  } catch (error) {
    const { message } = (error instanceof Error && error.cause instanceof Error ? error.cause : error) as Error;
    throw new Error(`It could not be fetched: ${message}.`, { cause: error });
  }
  return hash.digest('hex');
}

async function hashOf(file: string): Promise<string> {
  const hash = createHash('sha256');
  for await (const piece of createReadStream(file)) hash.update(piece);
  return hash.digest('hex');
}
