import type { Transaction } from '../db/connect.ts';
import type { JobKind } from '../db/schema.ts';
import { countCharacters } from '../domain/characters.ts';
import { chunkingOf, chunkSize, chunkSizeOf, maxChunks, splitText } from '../domain/chunks/split-text.ts';
import { storeChunks } from '../domain/chunks/store-chunks.ts';
import { DocumentGone, type DocumentRow, findDocument } from '../domain/documents/document.ts';
import { type ExtractedText, getText, storeText } from '../domain/documents/document-text.ts';
import type { JobRow } from '../domain/jobs/job.ts';
import type { Outcome } from '../domain/jobs/succeed-job.ts';
import { keepSearchedIndex, readSearchedIndex } from '../domain/reindex/searched-index.ts';
import type { ActivityDeps } from './deps.ts';
import { JobFailure } from './job-failure.ts';

/**
 * Does the work of one kind of job, and returns its result and effects; stores nothing itself. Stops when the signal aborts. `tell` shows
 * operators in plain words how far it is.
 */
export type Handler = (deps: ActivityDeps, job: JobRow, signal: AbortSignal, tell: (progress: string) => void) => Promise<Outcome>;

/** Extracts a document's text and stores it. Result: `{ characters, pages, truncated }`. */
const extractDocument: Handler = async (deps, job, signal) => {
  const document = await getJobDocument(deps, job);
  const extracted = await extractText(deps, document, job.id, signal);
  const { characters, pages, truncated } = extracted;
  return { result: { characters, pages, truncated }, effects: (trx) => storeText(trx, document, extracted) };
};

/** Summarizes a document, after extracting its text if none is stored. Result: `{ summary, sentences, model, characters }`. */
const summarizeDocument: Handler = async (deps, job, signal) => {
  const document = await getJobDocument(deps, job);
  const { text, store } = await getDocumentText(deps, document, job.id, signal);
  if (text.trim() === '') throw new JobFailure('no_text', 'The document has no text to summarize.', false);
  const maxSentences = Number(job.input.maxSentences);
  const summary = await deps.ai.summarize({ text, maxSentences, signal, requestId: job.id });
  return { result: { ...summary }, effects: store };
};

/**
 * Indexes a document for search, after extracting its text if none is stored. It is embedded by the model that its workspace is searched with.
 * Result: `{ chunks, characters, model, dimensions }`.
 */
const indexDocument: Handler = async (deps, job, signal, tell) => {
  const until = Date.now() + deps.jobs.timeoutMs;
  const document = await getJobDocument(deps, job);
  const { text, store } = await getDocumentText(deps, document, job.id, signal);
  const read = await readSearchedIndex(deps.db, document.workspace_id);
  const { chunkCharacters = chunkSize.characters, textsPerCall } = await deps.embedder.mannerOf(read?.model);
  const size = chunkSizeOf(chunkCharacters);
  const texts = splitText(text, size);
  if (texts.length > maxChunks) {
    throw new JobFailure('too_many_chunks', `The document has more than ${maxChunks} chunks and cannot be indexed.`, false);
  }
  const onProgress = (done: number) => tell(`Embedded ${done} of ${texts.length} chunks.`);
  const embedding = { signal, requestId: job.id, index: read, textsPerCall, until, onProgress };
  const { model, dimensions, vectors } = await deps.embedder.embedAll(texts, embedding);
  const chunks = texts.map((chunk, index) => ({ text: chunk, embedding: vectors[index] ?? [] }));
  const made = { model, dimensions, chunking: chunkingOf(size) };
  return {
    result: { chunks: chunks.length, characters: countCharacters(text), model, dimensions },
    async effects(trx) {
      await keepSearchedIndex(trx, document, { read, made });
      await store(trx);
      await storeChunks(trx, document, model, chunks, made);
    },
  };
};

/** Summarizes a text. Result: `{ summary, sentences, model, characters }`. */
const summarizeText: Handler = async (deps, job, signal) => {
  const { text, maxSentences } = job.input as { text: string; maxSentences: number };
  return { result: { ...(await deps.ai.summarize({ text, maxSentences, signal, requestId: job.id })) } };
};

/** Embeds texts. Result: `{ model, dimensions, vectors }`, a vector for each text. */
const embedTexts: Handler = async (deps, job, signal) => {
  const { texts } = job.input as { texts: string[] };
  return { result: { ...(await deps.ai.embed({ texts, signal, requestId: job.id })) } };
};

/** The handler of each kind. A worker polls the task queues of the kinds that are here. */
export const handlers: Record<JobKind, Handler> = {
  'document.extract': extractDocument,
  'document.summarize': summarizeDocument,
  'document.index': indexDocument,
  'text.summarize': summarizeText,
  'text.embed': embedTexts,
};

async function getJobDocument(deps: ActivityDeps, job: JobRow): Promise<DocumentRow> {
  const document = job.document_id === null ? undefined : await findDocument(deps.db, job.document_id);
  if (!document) throw new DocumentGone();
  return document;
}

/** The stored text of a document, or else the text that is extracted now, which the effect `store` stores. Throws as {@link extractText}. */
async function getDocumentText(
  deps: ActivityDeps,
  document: DocumentRow,
  requestId: string,
  signal: AbortSignal,
): Promise<{ text: string; store: (trx: Transaction) => Promise<void> }> {
  const stored = await getText(deps.db, document.id);
  if (stored !== null) return { text: stored, store: async () => {} };
  const extracted = await extractText(deps, document, requestId, signal);
  return { text: extracted.text, store: (trx) => storeText(trx, document, extracted) };
}

/** Lets the AI service read a document's object. Throws {@link DocumentGone} if there is none, AiServiceError, or the signal's reason. */
async function extractText(deps: ActivityDeps, document: DocumentRow, requestId: string, signal: AbortSignal): Promise<ExtractedText> {
  const body = await deps.storage.read(document.object_key);
  if (!body) throw new DocumentGone();
  try {
    const { content_type: contentType, size_bytes: contentLength } = document;
    const { text, characters, pages, truncated } = await deps.ai.extract({ body, contentType, contentLength, requestId, signal });
    return { text, characters, pages, truncated };
  } finally {
    body.destroy();
  }
}
