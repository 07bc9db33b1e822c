import { createHash } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { access, mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { lostResponse } from '../../errors.ts';
import { type Client, type Document, type RetryOptions, SheafError } from '../../index.ts';
import { delayBefore, mayRepeat } from '../../retry.ts';
import { parseRetryAfter } from '../../retry-after.ts';
import { hashFile } from '../hash-file.ts';
import type { Noted } from './catalog.ts';
import { safePath } from './safe-name.ts';

/** The folder of an export. Paths are within it. */
export interface Folder {
  /** Whether a file is there; with a hash, whether it is this one. */
  has(path: string, sha256?: string): Promise<boolean>;
  /**
   * Fetches what was uploaded. A file that is there and differs is left, and the new one gets a path of its own. The document is another if
   * its content was replaced meanwhile.
   */
  fetchOriginal(document: Document): Promise<{ document: Document; original: string; sha256: string }>;
  /** Writes the text of a document beside that of its original, over an earlier one of this document. */
  writeText(document: Document, original: string, text: string): Promise<string>;
}

interface FolderOptions {
  client: Client;
  retries: RetryOptions;
  directory: string;
  /** Called with the bytes that were received since it was called last; fewer than none if they are fetched again. */
  onReceived: (bytes: number) => void;
  /** What an earlier export has noted, by the ids of documents. */
  noted: Iterable<[id: string, Noted]>;
}

export function createFolder({ client, retries, directory, onReceived, noted }: FolderOptions): Folder {
  const at = (path: string) => join(directory, path);
  const partOf = ({ id }: Document) => at(`.${id}.part`);
  /** The documents with a text, by its path: several whose originals are one file may have one text. */
  const holders = new Map<string, Set<string>>();
  const hold = (path: string, id: string) => holders.set(path, (holders.get(path) ?? new Set()).add(id));
  for (const [id, { text }] of noted) if (text !== null) hold(text, id);
  let placed: Promise<unknown> = Promise.resolve();

  /** Places one file after the other, so that none comes between the look at a path and the move. */
  function inTurn(placing: () => Promise<string>): Promise<string> {
    const moved = placed.then(placing);
    placed = moved.catch(() => undefined);
    return moved;
  }

  async function has(path: string, sha256?: string): Promise<boolean> {
    if (sha256 !== undefined) return (await hashFile(at(path)).catch(() => undefined)) === sha256;
    return await access(at(path)).then(
      () => true,
      () => false,
    );
  }

  /** Moves a whole file to a path, unless there is another one. */
  async function place(part: string, path: string, sha256: string): Promise<boolean> {
    if (await has(path)) return await has(path, sha256);
    return await move(part, path);
  }

  async function move(part: string, path: string): Promise<boolean> {
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

  async function fetchOriginal(listed: Document) {
    const part = partOf(listed);
    try {
      const { document, sha256 } = await fetchWhole(listed, part);
      return { document, original: await inTurn(() => placeOriginal(part, document, sha256)), sha256 };
    } finally {
      await rm(part, { force: true });
    }
  }

  /**
   * Fetches a document, again if it breaks off or was replaced, by a new link each time: one holds for some minutes. Returns what it was
   * then, and the hash of its content.
   */
  async function fetchWhole(listed: Document, part: string): Promise<{ document: Document; sha256: string }> {
    const { id } = listed;
    let document = listed;
    for (let tries = 1; ; tries++) {
      const { url } = await client.documents.downloadUrl({ id });
      try {
        return { document, sha256: await download(url, part, { size: document.size, onReceived }) };
      } catch (error) {
        const { version } = document;
        // Throws if it was deleted meanwhile: then there is nothing to fetch.
        document = await client.documents.get({ id });
        const isOther = document.version !== version;
        const mayGoOn = tries < retries.attempts && (isOther || mayRepeat(error, 'repeatable'));
        const delayMs = mayGoOn ? delayBefore(error, tries, retries) : undefined;
        if (delayMs === undefined) throw new Error(`It could not be fetched: ${(error as Error).message}`, { cause: error });
        await retries.wait(delayMs, { error, signal: undefined });
      }
    }
  }

  /** Places a text beside its original, unless that is where another document has a different one. Returns its path. */
  async function placeText(part: string, { id }: Document, original: string, bytes: Buffer): Promise<string> {
    const beside = `${original.replace(/^originals/, 'texts')}.txt`;
    for (const path of [beside, `texts/${id}/${basename(beside)}`]) {
      const there = await readFile(at(path)).catch(() => undefined);
      const isOthers = [...(holders.get(path) ?? [])].some((holder) => holder !== id);
      if (there?.equals(bytes) || (!(there && isOthers) && (await move(part, path)))) {
        hold(path, id);
        return path;
      }
    }
    throw new Error(`Other files are where its text belongs: remove them from texts/${id}.`);
  }

  async function writeText(document: Document, original: string, text: string): Promise<string> {
    const part = partOf(document);
    const bytes = Buffer.from(text);
    try {
      await writeFile(part, bytes);
      return await inTurn(() => placeText(part, document, original, bytes));
    } finally {
      await rm(part, { force: true });
    }
  }

  return { has, fetchOriginal, writeText };
}

/** Writes what is at a URL to a file, and returns its SHA-256 in hex. Throws SheafError unless it is the file that fails. */
async function download(
  url: string,
  file: string,
  { size, onReceived }: { size: number } & Pick<FolderOptions, 'onReceived'>,
): Promise<string> {
  const hash = createHash('sha256');
  let receivedBytes = 0;
  const count = async function* (pieces: AsyncIterable<Uint8Array>) {
    try {
      for await (const piece of pieces) {
        hash.update(piece);
        receivedBytes += piece.byteLength;
        onReceived(piece.byteLength);
        yield piece;
      }
    } catch (error) {
      throw lostResponse(error);
    }
  };
  try {
    const response = await fetch(url).catch((error: unknown) => {
      throw lostResponse(error);
    });
    if (!response.ok || response.body === null) throw await refusal(response);
    await pipeline(response.body, count, createWriteStream(file));
    if (receivedBytes !== size) throw new SheafError('NETWORK', `it came with ${receivedBytes} bytes instead of ${size}.`);
  } catch (error) {
    onReceived(-receivedBytes);
    throw error;
  }
  return hash.digest('hex');
}

async function refusal({ status, headers, body }: Response): Promise<SheafError> {
  await body?.cancel().catch(() => undefined);
  const retryAfterMs = parseRetryAfter(headers.get('retry-after'));
  return new SheafError(`HTTP_${status}`, `the response was ${status}.`, { status, retryAfterMs });
}
