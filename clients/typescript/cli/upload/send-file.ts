import { createHash } from 'node:crypto';
import { openAsBlob } from 'node:fs';
import { type Charset, type Client, type ContentType, type Document, type Job, SheafError, type Upload } from '../../index.ts';
import { Failure } from '../failure.ts';

export interface Sending {
  client: Client;
  organizationId: string;
  workspaceId: string;
  tags: string[];
  /** Of the texts among the files. */
  charset: Charset | undefined;
  /** The job to ask for where a document is not indexed yet; undefined for none. */
  job: 'document.index' | 'document.process' | undefined;
  /** Aborts the wait for the end of each job; undefined if none is waited for. */
  waiting: AbortSignal | undefined;
  /** Called with the bytes that were sent since it was called last; fewer than none if they are sent again. */
  onSent: (bytes: number) => void;
}

export interface File {
  path: string;
  name: string;
  contentType: ContentType;
}

export interface Sent {
  status: 'uploaded' | 'unchanged';
  documentId: string;
  /** The job that was asked for. */
  jobId?: string;
  /** Set if that job was waited for, and did not succeed. */
  error?: NotProcessed;
}

const textTypes = /^text\/|^application\/json$/;
/** The longest name of a document, in characters. */
const longestName = 200;

/** Sends files to one workspace, each content once. The function that it returns may be called for several files at once. */
export function createSender(sending: Sending): (file: File) => Promise<Sent> {
  const underWay = new Map<string, Promise<unknown>>();
  return async (file) => {
    // The blob is the file as it is now: if it changes before it is sent, the upload fails.
    const blob = await openAsBlob(file.path, { type: file.contentType });
    const tag = await hashTag(blob);
    // Of two files with one content the second waits, and then finds it.
    while (underWay.has(tag)) await underWay.get(tag)?.catch(() => undefined);
    const sent = sendOnce(sending, file, blob, tag);
    underWay.set(tag, sent);
    try {
      return await sent;
    } finally {
      underWay.delete(tag);
    }
  };
}

async function sendOnce(sending: Sending, file: File, blob: Blob, tag: string): Promise<Sent> {
  const { client, organizationId, workspaceId } = sending;
  const there = await client.documents.list({ organizationId, workspaceId, tag, status: 'ready', limit: 1 });
  const [known] = there.items;
  const document = known ?? (await upload(sending, file, blob, tag));
  const sent = { status: known ? 'unchanged' : 'uploaded', documentId: document.id } as const;
  if (!sending.job || document.indexedAt !== null) return sent;
  const { id: jobId } = await queueJob(client, sending.job, document.id);
  const error = sending.waiting && (await findFailure(client, jobId, sending.waiting));
  return { ...sent, jobId, ...(error && { error }) };
}

/** Queues a job, unless the document has one of the kind. Throws Failure if the service does not have the kind: no other file would fare better. */
export async function queueJob(client: Client, kind: NonNullable<Sending['job']>, documentId: string): Promise<Job> {
  return await client.jobs.create({ kind, documentId, once: true }).catch((error: unknown) => {
    throw error instanceof SheafError && error.is('BAD_REQUEST') ? new Failure(`The service has no jobs of kind ${kind}.`) : error;
  });
}

/** A file whose job did not succeed. */
export class NotProcessed extends Error {}

/** Waits for the end of a job; undefined if it succeeded. */
async function findFailure(client: Client, id: string, signal: AbortSignal): Promise<NotProcessed | undefined> {
  const { kind, status, error } = await client.waitForJob(id, { signal, returnFailed: true });
  if (status === 'succeeded') return undefined;
  return new NotProcessed(`${kind} ${status === 'failed' ? 'failed' : 'was canceled'} (job ${id})${error ? `: ${error.message}` : ''}`);
}

async function upload(sending: Sending, file: File, blob: Blob, tag: string): Promise<Document> {
  const { workspaceId, charset } = sending;
  const { contentType } = file;
  const labels = {
    ...{ workspaceId, name: nameOf(file), contentType, tags: [tag, ...sending.tags] },
    ...(charset && textTypes.test(contentType) ? { charset } : {}),
  };
  return await uploadOnce(sending, blob, labels);
}

/**
 * Uploads a file under a key that is made of its labels, which have to tell its content: a run that follows one that was killed, or is
 * beside another, goes on with the same document.
 */
export async function uploadOnce(
  { client, onSent }: Pick<Sending, 'client' | 'onSent'>,
  blob: Blob,
  labels: Omit<Upload, 'file'>,
): Promise<Document> {
  let countedBytes = 0;
  const onProgress = ({ sentBytes }: { sentBytes: number }) => {
    onSent(sentBytes - countedBytes);
    countedBytes = sentBytes;
  };
  const idempotencyKey = `sheaf-upload-${createHash('sha256').update(JSON.stringify(labels)).digest('base64url')}`;
  const all = { ...labels, file: blob, onProgress };
  const document = await client.uploadDocument({ ...all, idempotencyKey }).catch((error: unknown) => {
    // The document of the key was deleted since, by a user or because an earlier try was refused.
    if (error instanceof SheafError && error.status === 404) return client.uploadDocument(all);
    throw error;
  });
  // The content of the key has been replaced since.
  if (labels.sha256 !== undefined && document.sha256 !== labels.sha256) return await client.uploadDocument(all);
  return document;
}

/** The tag by which the content is found: 50 characters. */
async function hashTag(blob: Blob): Promise<string> {
  const hash = createHash('sha256');
  for await (const piece of blob.stream()) hash.update(piece);
  return `sha256:${hash.digest('base64url')}`;
}

/** The name of a file's document: the end of its path. */
export function nameOf({ name }: Pick<File, 'name'>): string {
  return Array.from(name).slice(-longestName).join('');
}
