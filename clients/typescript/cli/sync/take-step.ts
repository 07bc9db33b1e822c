import { openAsBlob } from 'node:fs';
import { type Client, type Document, SheafError } from '../../index.ts';
import type { Outcome } from '../tally.ts';
import { NotProcessed, nameOf, queueJob, type Sending, uploadOnce } from '../upload/send-file.ts';
import { explain, isOfThisFile } from '../upload/upload-files.ts';
import { pathOf, pathOfStep, type Step } from './plan-sync.ts';
import type { LocalFile } from './read-folder.ts';

export interface Syncing extends Pick<Sending, 'client' | 'workspaceId' | 'job' | 'onSent'> {
  /** The tag of all that is made of this folder. */
  tag: string;
}

type SyncStatus = 'uploaded' | 'replaced' | 'moved' | 'unchanged' | 'deleted' | 'skipped';
export type SyncOutcome = Outcome<SyncStatus>;

const statuses = { replace: 'replaced', move: 'moved', keep: 'unchanged', delete: 'deleted' } as const;

/** Takes a step of a plan. Throws an error that other steps would meet, too. */
export async function takeStep(syncing: Syncing, step: Step): Promise<SyncOutcome> {
  const path = pathOfStep(step);
  try {
    return { path, ...(await take(syncing, step)) };
  } catch (error) {
    if (isTypeRefused(error)) return { path, status: 'skipped', reason: error.message };
    // It was deleted meanwhile.
    const isGone = error instanceof SheafError && error.is('NOT_FOUND');
    if (!isGone && !isOfThisFile(error)) throw error;
    return { path, status: 'failed', error: explain(path, error) };
  }
}

async function take(syncing: Syncing, step: Step): Promise<{ status: SyncStatus; documentId: string }> {
  const { client, job } = syncing;
  if (step.action === 'give up')
    throw new NotProcessed(`its content could not be read: ${step.upload.failedJob?.error?.message ?? 'a job failed'}`);
  if (step.action === 'upload') {
    const document = await send(syncing, step.file);
    await index(document);
    // The workspace may take a content once, and answer by the document that has it.
    return { status: pathOf(document) === step.file.name ? 'uploaded' : 'unchanged', documentId: document.id };
  }
  const { action, document, stale } = step;
  const { id } = document;
  for (const one of stale) await remove(client, one.id);
  if (action === 'delete') await remove(client, id);
  else if (action === 'replace') await send(syncing, step.file, document);
  else {
    if (action === 'move')
      await client.documents.update({ id, name: nameOf(step.file), metadata: { ...document.metadata, syncPath: step.file.name } });
    await index(document);
  }
  return { status: statuses[action], documentId: id };

  async function index({ id: documentId, indexedAt }: Document): Promise<void> {
    if (job && indexedAt === null) await queueJob(client, job, documentId);
  }
}

async function send(syncing: Syncing, file: LocalFile, before?: Document): Promise<Document> {
  const { workspaceId, tag } = syncing;
  const { path, name, contentType, sha256 } = file;
  const labels = {
    ...{ workspaceId, name: nameOf(file), contentType, sha256, tags: [tag], metadata: { syncPath: name } },
    ...(before ? { replaces: before.id } : {}),
  };
  return await uploadOnce(syncing, await openAsBlob(path), labels);
}

/** Deletes a document, unless it is gone. */
async function remove(client: Client, id: string): Promise<void> {
  await client.documents.delete({ id }).catch((error: unknown) => {
    if (!(error instanceof SheafError && error.is('NOT_FOUND'))) throw error;
  });
}

function isTypeRefused(error: unknown): error is SheafError {
  return error instanceof SheafError && error.is('BAD_REQUEST') && error.data?.issues[0]?.path[0] === 'contentType';
}
