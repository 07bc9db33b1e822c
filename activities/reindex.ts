import { ApplicationFailure, Context } from '@temporalio/activity';
import { AiServiceError } from '../ai/client.ts';
import { placeChunks } from '../domain/chunks/place-chunks.ts';
import { readChunkTexts } from '../domain/chunks/read-chunks.ts';
import { chunkingOf, chunkSize, chunkSizeOf, maxChunks, sizeOfChunking } from '../domain/chunks/split-text.ts';
import type { EmbeddedChunk } from '../domain/chunks/store-chunks.ts';
import { findText } from '../domain/documents/document-text.ts';
import { type BehindDocument, countBehind, listBehind, nextWorkspaceBehind, type ReindexScope } from '../domain/reindex/find-behind.ts';
import { type IndexKind, isSameKind } from '../domain/reindex/index-kind.ts';
import { noteIndexKinds } from '../domain/reindex/note-index-kinds.ts';
import { recordReindex } from '../domain/reindex/record-reindex.ts';
import { stageDocument } from '../domain/reindex/stage-document.ts';
import { type Switched, switchWorkspace } from '../domain/reindex/switch-workspace.ts';
import type { ReindexBatch, ReindexInput } from '../workflows/definitions.ts';
import type { ActivityDeps } from './deps.ts';
import { toApplicationFailure } from './job-failure.ts';
import { reporting, withHeartbeats } from './progress.ts';

interface Page {
  workspaceId: string;
  target: IndexKind;
  after: string;
  limit: number;
}

/** The steps of a re-embedding. None of them charges anybody: an operator has ordered it. */
export function reindexActivities(deps: ActivityDeps) {
  const { db, maintenanceDb } = deps;
  return {
    recordReindex: (reindex: { run: string; input: ReindexInput }): Promise<void> => recordReindex(db, reindex),

    /** What the AI service embeds with now, and how it wants texts to be cut. Before that it is noted with what all documents are indexed. */
    readReindexTarget: (): Promise<IndexKind> =>
      withHeartbeats(async () => {
        await noteIndexKinds(maintenanceDb, { signal: Context.current().cancellationSignal });
        return await readTarget(deps);
      }),

    nextWorkspaceBehind: ({ scope, ...page }: { scope: ReindexScope; target: IndexKind; after: string }): Promise<string | null> =>
      nextWorkspaceBehind(db, scope, page).then((workspaceId) => workspaceId ?? null),

    countBehind: ({ workspaceId, target }: { workspaceId: string; target: IndexKind }): Promise<{ behind: number; staged: number }> =>
      countBehind(db, workspaceId, target),

    /** Embeds the next documents that are behind, and keeps their chunks beside those that are searched. */
    stageDocuments: (page: Page): Promise<ReindexBatch> => stagePage(deps, page),

    async switchWorkspace(workspace: { workspaceId: string; target: IndexKind }): Promise<Switched> {
      const { onProgress } = reporting<number>();
      return await withHeartbeats(() => switchWorkspace(db, workspace, onProgress));
    },
  };
}

async function readTarget({ ai, breaker }: ActivityDeps): Promise<IndexKind> {
  const { signal } = reporting();
  try {
    await breaker?.untilClosed(signal);
    const { model, dimensions } = await ai.embedFloats({ texts: ['a'], signal });
    const { embeddings } = await ai.health({ signal });
    const chunkCharacters = embeddings.find((one) => one.model === model)?.chunkCharacters ?? chunkSize.characters;
    return { model, dimensions, chunking: chunkingOf(chunkSizeOf(chunkCharacters)) };
  } catch (error) {
    signal.throwIfAborted();
    throw toApplicationFailure(error);
  }
}

async function stagePage(deps: ActivityDeps, { target, ...page }: Page): Promise<ReindexBatch> {
  const { before, onProgress, signal } = reporting<{ staged: number; chunks: number }>();
  if (page.after === '') await noteIndexKinds(deps.db, { workspaceId: page.workspaceId, signal });
  const documents = await listBehind(deps.db, { target, ...page });
  const batch: ReindexBatch = {
    // Those of an attempt that was broken off are not behind any more.
    staged: before?.staged ?? 0,
    chunks: before?.chunks ?? 0,
    failed: [],
    after: documents.at(-1)?.documentId ?? null,
    last: documents.length < page.limit,
  };
  const report = () => onProgress({ staged: batch.staged, chunks: batch.chunks });
  for (const document of documents) {
    signal.throwIfAborted();
    await deps.breaker?.untilClosed(signal);
    const embedded = await embedDocument(deps, document, { target, signal, onProgress: report });
    if ('failure' in embedded) batch.failed.push({ documentId: document.documentId, code: embedded.failure });
    else if (await stageDocument(deps.db, document, { kind: target, chunks: embedded.chunks })) {
      batch.staged += 1;
      batch.chunks += embedded.chunks.length;
    }
    report();
  }
  return batch;
}

interface Embedding {
  target: IndexKind;
  signal: AbortSignal;
  onProgress: () => void;
}

/**
 * A document's chunks by the target. Why there are none, if the document will never have any by it. Throws a failure, to be repeated, if the AI
 * service does not serve now; one that ends the run if it embeds with something else than the target.
 */
async function embedDocument(
  { db, reindexEmbedder }: ActivityDeps,
  { documentId }: BehindDocument,
  { target, signal, onProgress }: Embedding,
): Promise<{ failure: string } | { chunks: EmbeddedChunk[] }> {
  const size = sizeOfChunking(target.chunking);
  const stored = await findText(db, documentId);
  const pieces = stored ? placeChunks(stored.text, stored.outline, size) : (await readChunkTexts(db, documentId)).map((text) => ({ text }));
  const { textsPerCall } = await reindexEmbedder.mannerOf(target.model);
  if (pieces.length > maxChunks) return { failure: 'too_many_chunks' };
  const beating = setInterval(onProgress, heartbeatMs);
  try {
    const options = { signal, textsPerCall, until: Date.now() + patienceMs };
    const texts = pieces.map(({ text }) => text);
    const { model, dimensions, vectors } = await reindexEmbedder.embedAll(texts, options);
    if (!isSameKind({ model, dimensions, chunking: chunkingOf(size) }, target)) throw changed(model);
    return { chunks: pieces.map((piece, index) => ({ ...piece, embedding: vectors[index] ?? [] })) };
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof AiServiceError && !error.retryable) return { failure: error.code };
    throw toApplicationFailure(error);
  } finally {
    clearInterval(beating);
  }
}

const heartbeatMs = 5_000;
/** For how long a document waits for a model that limits its rate, before the workflow does. */
const patienceMs = 10 * 60_000;

function changed(model: string): ApplicationFailure {
  const message = `The AI service embeds with ${model} by now, or has other settings. Start the re-embedding again.`;
  return ApplicationFailure.nonRetryable(message, 'model_changed');
}
