import { setTimeout as sleep } from 'node:timers/promises';
import { ApplicationFailure } from '@temporalio/activity';
import { AiServiceError } from '../adapters/ai-service/client.ts';
import type { ReindexBatch, ReindexInput } from '../contract/intents/inputs.ts';
import { chunkingOf, chunkSize, chunkSizeOf, maxChunks, sizeOfChunking } from '../domain/chunking/chunking.ts';
import { cutChunks } from '../domain/chunking/cut-chunks.ts';
import { findDocument } from '../domain/documents/document.ts';
import { findText } from '../domain/documents/document-text.ts';
import { type BehindDocument, countBehind, listBehind, nextWorkspaceBehind, type ReindexScope } from '../domain/reindex/find-behind.ts';
import { recordReindex } from '../domain/reindex/record-reindex.ts';
import { stageDocument } from '../domain/reindex/stage-document.ts';
import { type Switched, switchWorkspace } from '../domain/reindex/switch-workspace.ts';
import { type IndexKind, isSameKind } from '../domain/search/index-kind.ts';
import type { EmbeddedChunk } from '../domain/search/store-chunks.ts';
import type { ActivityDeps } from './deps.ts';
import { toApplicationFailure } from './job-failure.ts';
import { reporting, withHeartbeats } from './progress.ts';

/** How long a document waits here for a model that limits its rate, before the workflow waits. */
const patienceMs = 10 * 60_000;
/** How long a batch waits while what embeds is known to be down. */
const awayMs = 60_000;
/** The pauses between attempts for a document at which the service fails. */
const pausesMs = [1_000, 10_000];

interface Page {
  workspaceId: string;
  target: IndexKind;
  after: string;
  limit: number;
}

/** The steps of a re-embedding. None of them charges anybody: an operator has ordered it. */
export function reindexActivities(deps: ActivityDeps) {
  const { db, bulkDb } = deps;
  return {
    recordReindex: (reindex: { run: string; input: ReindexInput }): Promise<void> => recordReindex(db, reindex),

    /** The kind of index that the AI service makes now. */
    readReindexTarget: (): Promise<IndexKind> => withHeartbeats(() => readTarget(deps)),

    nextWorkspaceBehind: ({ scope, ...page }: { scope: ReindexScope; target: IndexKind; after: string }): Promise<string | null> =>
      nextWorkspaceBehind(db, scope, page).then((workspaceId) => workspaceId ?? null),

    countBehind: ({ workspaceId, target }: { workspaceId: string; target: IndexKind }): Promise<{ behind: number; staged: number }> =>
      countBehind(db, workspaceId, target),

    /** Embeds the next documents that are behind, and stages their chunks. */
    stageDocuments: (page: Page): Promise<ReindexBatch> => stagePage(deps, page),

    async switchWorkspace(workspace: { workspaceId: string; target: IndexKind }): Promise<Switched> {
      const { onProgress } = reporting<number>();
      return await withHeartbeats(() => switchWorkspace(bulkDb, workspace, onProgress));
    },
  };
}

async function readTarget({ ai }: ActivityDeps): Promise<IndexKind> {
  const { signal } = reporting();
  try {
    const { model, dimensions } = await ai.embedFloats({ texts: ['a'], signal, owner: { purpose: 'reindex' } });
    const { embeddings } = await ai.health({ signal });
    const chunkCharacters = embeddings.find((one) => one.model === model)?.chunkCharacters ?? chunkSize.characters;
    return { model, dimensions, chunking: chunkingOf(chunkSizeOf(chunkCharacters)) };
  } catch (error) {
    signal.throwIfAborted();
    throw toApplicationFailure(error);
  }
}

/** The progress of a batch. The attempt after an interrupted one continues from it. */
type Staged = Pick<ReindexBatch, 'staged' | 'chunks' | 'failed'>;

async function stagePage(deps: ActivityDeps, page: Page): Promise<ReindexBatch> {
  const { before, onProgress, signal } = reporting<Staged>();
  const progress = before ?? { staged: 0, chunks: 0, failed: [] };
  const stage = () => stageInto(progress, deps, page, { onProgress: () => onProgress(progress), signal });
  return await withHeartbeats(stage, () => progress);
}

async function stageInto(
  progress: Staged,
  deps: ActivityDeps,
  { target, ...page }: Page,
  { onProgress, signal }: { onProgress: () => void; signal: AbortSignal },
): Promise<ReindexBatch> {
  const documents = await listBehind(deps.db, { target, ...page });
  const { textsPerCall } = await deps.reindexEmbedder.profileOf(target.model).catch((error: unknown) => {
    throw toApplicationFailure(error);
  });
  for (const document of documents) {
    signal.throwIfAborted();
    await refuseAway(deps);
    await stageOne(deps, document, { target, signal, textsPerCall }, progress);
    onProgress();
  }
  return { ...progress, after: documents.at(-1)?.documentId ?? null, last: documents.length < page.limit };
}

/** Throws a retryable failure while what embeds is known to be down: jobs probe it, and find out when it is back. */
async function refuseAway({ db }: ActivityDeps): Promise<void> {
  const away = db.selectFrom('provider_outage').select('part').where('part', 'in', ['ai-service', 'embed']).limit(1);
  if (!(await away.executeTakeFirst())) return;
  const message = 'What embeds is not available just now; the re-embedding goes on by itself.';
  throw ApplicationFailure.create({ type: 'provider_away', message, nextRetryDelay: awayMs, category: 'BENIGN' });
}

interface Embedding {
  target: IndexKind;
  signal: AbortSignal;
  textsPerCall: number;
}

/** Adds the outcome for a document to the batch; nothing if it failed before, or was changed meanwhile. */
async function stageOne(deps: ActivityDeps, document: BehindDocument, embedding: Embedding, batch: Staged): Promise<void> {
  const { documentId } = document;
  if (batch.failed.some((failed) => failed.documentId === documentId)) return;
  const embedded = await embedPatiently(deps, document, embedding);
  if ('failure' in embedded) batch.failed.push({ documentId, code: embedded.failure });
  else if (await stageDocument(deps.db, document, { kind: embedding.target, chunks: embedded.chunks })) {
    batch.staged += 1;
    batch.chunks += embedded.chunks.length;
  }
}

/** A document's chunks for the target, or the reason why it can have none. */
type Embedded = { failure: string } | { chunks: EmbeddedChunk[] };

/**
 * Embeds a document, with a few attempts. If all fail but the service responds to other calls, the document is the cause. Throws a
 * retryable failure if the AI service is away, and one that ends the run if the service now embeds with something other than the target.
 */
async function embedPatiently(deps: ActivityDeps, document: BehindDocument, embedding: Embedding): Promise<Embedded> {
  const { signal } = embedding;
  for (let tries = 0; ; tries += 1) {
    try {
      return await embedDocument(deps, document, embedding);
    } catch (error) {
      signal.throwIfAborted();
      if (error instanceof AiServiceError && !error.retryable) return { failure: error.code };
      if (!(error instanceof AiServiceError) || !mayBeOfDocument(error)) throw toApplicationFailure(error);
      const pauseMs = pausesMs[tries];
      if (pauseMs !== undefined) await sleep(pauseMs, undefined, { signal });
      else if (await isServing(deps, signal)) return { failure: error.code };
      else throw toApplicationFailure(error);
    }
  }
}

/** Whether the document may be the cause of an error. What is down, and a rate limit, never are. */
function mayBeOfDocument({ kind, code, retryAfterMs, down }: AiServiceError): boolean {
  return down === undefined && retryAfterMs === undefined && (kind === 'failed' || kind === 'unusable_answer' || code === 'timeout');
}

async function isServing({ reindexEmbedder }: ActivityDeps, signal: AbortSignal): Promise<boolean> {
  try {
    await reindexEmbedder.embedAll([], { signal, owner: { purpose: 'reindex' } });
    return true;
  } catch {
    signal.throwIfAborted();
    return false;
  }
}

async function embedDocument(
  { db, reindexEmbedder }: ActivityDeps,
  { documentId }: BehindDocument,
  { target, signal, textsPerCall }: Embedding,
): Promise<Embedded> {
  const size = sizeOfChunking(target.chunking);
  const [document, stored] = await Promise.all([findDocument(db, documentId), findText(db, documentId)]);
  // It was deleted meanwhile.
  if (!document || !stored) return { chunks: [] };
  const pieces = cutChunks(stored.text, stored.outline, { contentType: document.content_type, size });
  if (pieces.length > maxChunks) return { failure: 'too_many_chunks' };
  const texts = pieces.map(({ embedded }) => embedded);
  const { model, dimensions, vectors } = await reindexEmbedder.embedAll(texts, {
    signal,
    tenant: document.organization_id,
    owner: { purpose: 'reindex', workspaceId: document.workspace_id, documentId },
    textsPerCall,
    until: Date.now() + patienceMs,
  });
  if (!isSameKind({ model, dimensions, chunking: chunkingOf(size) }, target)) throw changed(model);
  return { chunks: pieces.map((piece, index) => ({ ...piece, embedding: vectors[index] ?? [] })) };
}

function changed(model: string): ApplicationFailure {
  const message = `The AI service embeds with ${model} by now, or has other settings. Start the re-embedding again.`;
  return ApplicationFailure.nonRetryable(message, 'model_changed');
}
