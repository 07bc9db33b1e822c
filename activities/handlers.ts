import { Readable } from 'node:stream';
import { AiServiceError, type CallOwner, type ExtractionProgress, patiently } from '../adapters/ai-service/client.ts';
import { StorageUnavailable } from '../adapters/storage/port.ts';
import type { Transaction } from '../db/connect.ts';
import type { JobKind, Outline } from '../db/schema.ts';
import { inTransaction } from '../db/transaction.ts';
import { countCharacters } from '../domain/characters.ts';
import { chunkingOf, chunkSizeOf, maxChunks } from '../domain/chunking/chunking.ts';
import { cutChunks } from '../domain/chunking/cut-chunks.ts';
import { digested } from '../domain/documents/digested.ts';
import { DocumentGone, type DocumentRow, findDocument } from '../domain/documents/document.ts';
import { type ExtractedText, findText, keepText, storeText, TextReplaced } from '../domain/documents/document-text.ts';
import { lockToReplace, replaceContent } from '../domain/documents/replace-content.ts';
import { cutPassages } from '../domain/fields/document-passages.ts';
import { schemaOf } from '../domain/fields/shipped-schemas.ts';
import { toFields } from '../domain/fields/to-fields.ts';
import type { JobRow } from '../domain/jobs/job.ts';
import { stagesLeft } from '../domain/jobs/stages.ts';
import type { Outcome } from '../domain/jobs/store-outcome.ts';
import { keepSearchedIndex, readSearchedIndex } from '../domain/search/searched-index.ts';
import { storeChunks } from '../domain/search/store-chunks.ts';
import { isOwnStore } from '../domain/stored-objects/store-owner.ts';
import type { ActivityDeps } from './deps.ts';
import { JobFailure } from './job-failure.ts';

/**
 * Does the work of one kind of job, or its next stage, and returns the result and effects; stores nothing itself. Stops when the signal
 * aborts. `report` reports its progress to operators in plain words.
 */
type Handler = (deps: ActivityDeps, job: JobRow, signal: AbortSignal, report: (progress: string) => void) => Promise<Outcome>;

/** Extracts a document's text and stores it. Result: `{ characters, pages, truncated }`, `ocrPages` and `notices` if there are any. */
const extractDocument: Handler = async (deps, job, signal, report) => {
  const document = await getJobDocument(deps, job);
  const extracted = await extractText(deps, document, { ...ofJob(job, document), signal, report });
  const { characters, pages, truncated, ocrPages, notices } = extracted;
  return {
    result: { characters, pages, truncated, ocrPages, notices },
    effects: replacing(document, (trx) => storeText(trx, document, extracted)),
  };
};

/** Summarizes a document, after extracting its text if none is stored. Result: `{ summary, sentences, model, characters }`. */
const summarizeDocument: Handler = async (deps, job, signal, report) => {
  const patience = patienceOf(deps, signal);
  const document = await getJobDocument(deps, job);
  const { text, store, orKept } = await getDocumentText(deps, document, { ...ofJob(job, document), signal, report });
  if (text.trim() === '') throw new JobFailure('no_text', 'The document has no text to summarize.', false);
  const maxSentences = Number(job.input.maxSentences);
  const summary = await patiently(() => deps.ai.summarize({ text, maxSentences, signal, ...ofJob(job, document) }), patience).catch(orKept);
  return {
    result: { ...summary },
    effects: replacing(document, store),
  };
};

/**
 * Indexes a document for search, after extracting its text if none is stored. It is embedded by the model that its workspace is searched with.
 * Result: `{ chunks, characters, model, dimensions }`.
 */
const indexDocument: Handler = async (deps, job, signal, report) => {
  const until = Date.now() + deps.jobs.timeoutMs;
  const document = await getJobDocument(deps, job);
  const { text, outline, store, orKept } = await getDocumentText(deps, document, { ...ofJob(job, document), signal, report });
  const read = await readSearchedIndex(deps.db, document.workspace_id);
  const { chunkCharacters, textsPerCall } = await deps.embedder.profileOf(read?.model);
  const size = chunkSizeOf(chunkCharacters);
  const pieces = cutChunks(text, outline, { contentType: document.content_type, size });
  if (pieces.length > maxChunks) {
    throw new JobFailure('too_many_chunks', `The document has more than ${maxChunks} chunks and cannot be indexed.`, false);
  }
  const texts = pieces.map(({ embedded }) => embedded);
  const onProgress = (done: number) => report(`Embedded ${done} of ${texts.length} chunks.`);
  const embedding = { signal, ...ofJob(job, document), index: read, textsPerCall, until, onProgress };
  const { model, dimensions, vectors } = await deps.embedder.embedAll(texts, embedding).catch(orKept);
  const chunks = pieces.map((piece, index) => ({ ...piece, embedding: vectors[index] ?? [] }));
  const made = { model, dimensions, chunking: chunkingOf(size) };
  return {
    result: { chunks: chunks.length, characters: countCharacters(text), model, dimensions },
    async effects(trx) {
      await lockToReplace(trx, document);
      await keepSearchedIndex(trx, document, { read, made });
      await store(trx);
      await storeChunks(trx, await replaceContent(trx, document, { isIndexed: true }), made, chunks);
    },
  };
};

/** Summarizes a text. Result: `{ summary, sentences, model, characters }`. */
const summarizeText: Handler = async (deps, job, signal) => {
  const { text, maxSentences } = job.input as { text: string; maxSentences: number };
  const summarize = () => deps.ai.summarize({ text, maxSentences, signal, ...ofJob(job) });
  return { result: { ...(await patiently(summarize, patienceOf(deps, signal))) } };
};

/** Embeds texts. Result: `{ model, dimensions, vectors }`, a vector for each text. */
const embedTexts: Handler = async (deps, job, signal, report) => {
  const until = Date.now() + deps.jobs.timeoutMs;
  const { texts } = job.input as { texts: string[] };
  const textsPerCall = await deps.embedder.textsPerCall();
  const onProgress = (done: number) => report(`Embedded ${done} of ${texts.length} texts.`);
  return { result: { ...(await deps.embedder.embedNumbers(texts, { signal, ...ofJob(job), textsPerCall, until, onProgress })) } };
};

/**
 * Reads the values of a schema out of a document, after extracting its text if none is stored, and keeps those that the document supports.
 * Result: `{ data, fields, withheld, model, characters }`.
 */
const extractFields: Handler = async (deps, job, signal, report) => {
  const patience = patienceOf(deps, signal);
  const document = await getJobDocument(deps, job);
  const { text, outline, ocrConfidence, store, orKept } = await getDocumentText(deps, document, {
    ...ofJob(job, document),
    signal,
    report,
  });
  if (text.trim() === '') throw new JobFailure('no_text', 'The document has no text to read fields in.', false);
  const { name, content_type: contentType } = document;
  const cut = cutPassages({ contentType, text, outline, ocrConfidence });
  const schema = schemaOf(job.input.schema);
  const given = cut.passages.map(({ id, page, headings, text: part }) => ({ id, page, heading: headings.at(-1) ?? null, text: part }));
  const input = { schema: { ...schema }, title: name, passages: given, signal, ...ofJob(job, document) };
  const { model, parts, unreadable } = await patiently(() => deps.ai.fields(input), patience).catch(orKept);
  const { withheld, ...fields } = toFields(schema, parts, cut);
  return {
    result: { ...fields, withheld: withheld + unreadable, model, characters: countCharacters(text) },
    effects: replacing(document, store),
  };
};

/**
 * Does the next of three stages: extracts, indexes and then summarizes a document, each as the job of that name does. Result:
 * `{ extract, index, summarize }`, so far as they are done.
 */
const processDocument: Handler = async (deps, job, signal, report) => {
  const [stage = 'summarize', ...later] = stagesLeft(job);
  const tell = (progress: string) => report(`Stage ${stage}. ${progress}`);
  report(`Stage ${stage}.`);
  const { result, effects } = await handlers[`document.${stage}`](deps, job, signal, tell);
  return { result: { ...job.stages, [stage]: result }, effects, isUnfinished: later.length > 0 };
};

/** The handler of each kind. A worker polls the task queues of these kinds. */
export const handlers: Record<JobKind, Handler> = {
  'document.extract': extractDocument,
  'document.summarize': summarizeDocument,
  'document.index': indexDocument,
  'text.summarize': summarizeText,
  'text.embed': embedTexts,
  'document.extractFields': extractFields,
  'document.process': processDocument,
};

/** A handler waits for a provider that limits its rate as long as its attempt may last. */
function patienceOf({ jobs }: ActivityDeps, signal: AbortSignal) {
  return { until: Date.now() + jobs.timeoutMs, signal };
}

async function getJobDocument(deps: ActivityDeps, job: JobRow): Promise<DocumentRow> {
  const document = job.document_id === null ? undefined : await findDocument(deps.db, job.document_id);
  if (!document) throw new DocumentGone();
  return document;
}

/** What calls of the AI service say of their job. What replaces a document counts as that document, since the upload will be gone. */
function ofJob({ id, organization_id, workspace_id, document_id, attempts, created_by }: JobRow, document?: DocumentRow) {
  const place = { workspaceId: workspace_id, documentId: document?.replaces ?? document_id, actorId: created_by };
  const owner: CallOwner = { purpose: 'job', purposeId: id, attempt: attempts, ...place };
  return { requestId: id, tenant: organization_id, owner };
}

/** The context of an extraction: its job, its signal, and how it reports progress. */
interface Call {
  requestId: string;
  tenant: string;
  owner: CallOwner;
  signal: AbortSignal;
  report: (progress: string) => void;
}

/** A document's text, and the effect that stores a new one, or else keeps the one that the result was made from. */
interface DocumentText {
  text: string;
  outline: Outline;
  ocrConfidence: (number | null)[] | null | undefined;
  store: (trx: Transaction) => Promise<void>;
  /** Rethrows the error of work on the text. If a provider is down, first stores a new text, which a probe would extract again. */
  orKept: (error: unknown) => Promise<never>;
}

/** The effects of work on a document: stores its text, and gives its content to the document that it replaces, if any. */
function replacing(document: DocumentRow, store: DocumentText['store']): DocumentText['store'] {
  return async (trx) => {
    await lockToReplace(trx, document);
    await store(trx);
    await replaceContent(trx, document);
  };
}

/** The stored text of a document, or else a newly extracted one, which the effect `store` stores. Throws as {@link extractText}. */
async function getDocumentText(deps: ActivityDeps, document: DocumentRow, call: Call): Promise<DocumentText> {
  const stored = await findText(deps.db, document.id);
  if (stored) {
    const store: DocumentText['store'] = (trx) => keepText(trx, document, stored.text);
    return { ...stored, ocrConfidence: document.extracted_ocr_confidence, store, orKept: (error) => Promise.reject(error) };
  }
  const extracted = await extractText(deps, document, call);
  const { text, outline, ocrConfidence } = extracted;
  const store: DocumentText['store'] = (trx) => storeText(trx, document, extracted);
  const orKept: DocumentText['orKept'] = async (error) => {
    if (error instanceof AiServiceError && error.down)
      await inTransaction(deps.db, store).catch((err: unknown) => deps.log.warn({ err }, 'a text was not stored; it is read again'));
    throw error;
  };
  return { text, outline, ocrConfidence, store, orKept };
}

/**
 * The error for a document without an object. If its row still exists, the store has lost the object, and the log says so. A store without
 * the marker of this deployment is a wrong one, so a later attempt may find the right one.
 */
async function withoutObject({ db, storage, log }: ActivityDeps, { id, object_key }: DocumentRow): Promise<Error> {
  const now = await findDocument(db, id);
  if (!now) return new DocumentGone();
  if (now.object_key !== object_key) return new TextReplaced();
  if (!(await isOwnStore(db, storage))) {
    log.warn({ documentId: id, location: storage.location }, 'the store is not that of this database; the job is tried again');
    return new StorageUnavailable('the store is not that of this database');
  }
  log.warn({ documentId: id, location: storage.location }, 'the store has no object of a document');
  return new DocumentGone();
}

/** Has the AI service read a document's object. Throws as {@link withoutObject} without one, AiServiceError, or the signal's reason. */
function extractText(deps: ActivityDeps, document: DocumentRow, call: Call): Promise<ExtractedText> {
  const patience = patienceOf(deps, call.signal);
  return patiently(() => extractOnce(deps, document, { ...call, endsAt: patience.until - deps.jobs.timeoutMs * shareOfRest }), patience);
}

/** The share of an attempt that text recognition leaves to what follows: embedding and storing a long text. */
const shareOfRest = 1 / 6;

async function extractOnce(
  deps: ActivityDeps,
  document: DocumentRow,
  { report, endsAt, ...call }: Call & { endsAt: number },
): Promise<ExtractedText> {
  const body = await deps.storage.read(document.object_key);
  if (!body) throw await withoutObject(deps, document);
  try {
    const { content_type: mediaType, charset, size_bytes: contentLength } = document;
    const contentType = charset === null ? mediaType : `${mediaType}; charset=${charset}`;
    const onProgress = ({ read, of }: ExtractionProgress) => report(`Text recognition has read ${read} of ${of} scanned pages.`);
    const { bytes, result } = digested(uploadedBytes(body, document));
    const seconds = Math.max(1, Math.floor((endsAt - Date.now()) / 1_000));
    const extracted = await deps.ai.extract({ body: Readable.from(bytes), contentType, contentLength, seconds, onProgress, ...call });
    const { text, characters, pages, truncated, ocrPages, ocrConfidence, notices, outline } = extracted;
    const { page_starts: pageStarts, pages_end: pagesEnd, headings, lines } = outline;
    // The service may answer before it has read everything.
    const { sizeBytes, sha256 } = result();
    const digest = sizeBytes === contentLength ? { sha256 } : {};
    const stored = { characters, pages: pageStarts, pagesEnd, headings, lines };
    return { text, characters, pages, truncated, ocrPages, ocrConfidence, notices, outline: stored, ...digest };
  } finally {
    body.destroy();
  }
}

/** The bytes of a document's object. Throws StorageUnavailable if they are not as many as were uploaded: an operator has to restore it. */
async function* uploadedBytes(body: Readable, { id, size_bytes: size }: DocumentRow): AsyncGenerator<Buffer> {
  let readBytes = 0;
  const changed = (what: string) => new StorageUnavailable(`the object of the document ${id} has ${what} bytes instead of ${size}`);
  for await (const chunk of body as AsyncIterable<Buffer>) {
    readBytes += chunk.length;
    if (readBytes > size) throw changed('more');
    yield chunk;
  }
  if (readBytes < size) throw changed(String(readBytes));
}
