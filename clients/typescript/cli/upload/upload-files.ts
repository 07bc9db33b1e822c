import { stat } from 'node:fs/promises';
import { SheafError } from '../../index.ts';
import { type AtOnce, forEachAtOnce } from '../at-once.ts';
import { type Found, findFiles, type Unreadable } from './find-files.ts';
import { createSender, type File, NotProcessed, type Sending, type Sent } from './send-file.ts';

/** What became of a file. */
type UploadOutcome = { path: string } & (Sent | { status: 'skipped'; reason: string } | { status: 'failed'; error: unknown });

interface Uploading extends Sending, AtOnce {
  paths: string[];
  onOutcome: (outcome: UploadOutcome) => void;
}

/**
 * Uploads files and folders. A file that cannot be sent is an outcome; an error that every file would meet stops all, and is thrown. Only the
 * files under way are held in memory.
 */
export async function uploadFiles({ paths, onOutcome, ...uploading }: Uploading): Promise<void> {
  const send = createSender(uploading);
  await forEachAtOnce(findFiles(paths), uploading, async (found) => onOutcome(await sendFound(send, found)));
}

/** Why a file is left out by its name. */
export const noType = 'its extension is of no type that can be uploaded';
export const isEmpty = 'it is empty';

async function sendFound(send: (file: File) => Promise<Sent>, found: Found | Unreadable): Promise<UploadOutcome> {
  if ('error' in found) return { ...found, status: 'failed', error: explain(found.path, found.error) };
  const { path, name, contentType, isNamed } = found;
  if (contentType === undefined) {
    const reason = noType;
    return isNamed ? { path, status: 'failed', error: new Error(reason) } : { path, status: 'skipped', reason };
  }
  try {
    if ((await stat(path)).size === 0) return { path, status: 'skipped', reason: isEmpty };
    return { path, ...(await send({ path, name, contentType })) };
  } catch (error) {
    if (!isOfThisFile(error)) throw error;
    return { path, status: 'failed', error: explain(path, error) };
  }
}

/** Node.js reads a name as UTF-8, puts U+FFFD for what is none, and then finds no such file. */
export function explain(path: string, error: unknown): unknown {
  return path.includes('\ufffd') && (error as NodeJS.ErrnoException).code === 'ENOENT' ? new Error('its name is not UTF-8') : error;
}

const codesOfFile = new Set(['BAD_REQUEST', 'CONFLICT', 'LEGAL_HOLD', 'PAYLOAD_TOO_LARGE', 'PRECONDITION_FAILED']);

/**
 * Whether another file may fare better: this one cannot be read or processed, has changed, is too large, is of a type that is not taken, or
 * of a content that the workspace takes only once or has to keep.
 */
export function isOfThisFile(error: unknown): boolean {
  if (error instanceof SheafError) return codesOfFile.has(error.code) || error.status === 413;
  if (error instanceof NotProcessed) return true;
  return error instanceof Error && ('syscall' in error || error.name === 'NotReadableError');
}
