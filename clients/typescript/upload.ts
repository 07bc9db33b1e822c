import type { Contract } from '../../contract/index.ts';
import { contentOf, nameOf, typeOf, type UploadSource } from './content.ts';
import { SheafError } from './errors.ts';
import { put } from './put.ts';
import { mayRepeat, type RetryOptions, withRetries } from './retry.ts';
import type { Charset, ContentType, Document, InputOf, OutputOf, Procedures } from './types.ts';

/** How long the document of an upload that failed is tried to be deleted; the caller of a refused one waits for it. */
const withdrawalMs = 5_000;

export interface Upload {
  workspaceId: string;
  file: UploadSource;
  /** On one line, at most 200 characters; by default the name of a `File`. */
  name?: string | undefined;
  /** By default the type of a `Blob`, or that of the name's extension. */
  contentType?: ContentType | undefined;
  /** Of a text; found by its bytes if it is not given. */
  charset?: Charset | undefined;
  /** In bytes; required for a stream. */
  size?: number | undefined;
  /** The SHA-256 of the bytes, in hex: see `documents.createUpload`. */
  sha256?: string | undefined;
  tags?: string[] | undefined;
  /** Any JSON object. */
  metadata?: Record<string, unknown> | undefined;
  /** Called while the bytes are sent. The count restarts if they are sent again after the connection broke. */
  onProgress?: ((progress: { sentBytes: number; totalBytes: number }) => void) | undefined;
  /** The document whose content this becomes once it is read: see `documents.createUpload`. */
  replaces?: string | undefined;
  /** Called before the upload with the document that has the content of `sha256` already. */
  onDuplicate?: ((duplicateOf: NonNullable<Created['duplicateOf']>) => void) | undefined;
  /** Aborts the upload and deletes the document. */
  signal?: AbortSignal | undefined;
  /**
   * Survives a restart of your program: the same upload with the same key goes on with the same document, within a day. One that was
   * aborted, lost its connection or met a failure that passes keeps its document for that. One that failed otherwise does not, unless the
   * document is complete: the same key then leads to a 404 for that day.
   */
  idempotencyKey?: string | undefined;
}

interface Uploading {
  documents: Procedures<Contract['documents']>;
  retries: RetryOptions;
  timeoutMs: number;
  fetch: typeof globalThis.fetch;
}

type CreateUpload = InputOf<Contract['documents']['createUpload']>;
type Created = OutputOf<Contract['documents']['createUpload']>;

/** Records a document, sends its bytes to the signed target, and completes it. If that fails, the document is deleted. */
export async function uploadDocument(uploading: Uploading, upload: Upload): Promise<Document> {
  const { documents, retries, timeoutMs, fetch } = uploading;
  const { workspaceId, charset, tags, metadata, sha256, replaces, idempotencyKey } = upload;
  const labels = {
    ...(sha256 ? { sha256 } : {}),
    ...(replaces ? { replaces } : {}),
    ...(charset ? { charset } : {}),
    ...(tags ? { tags } : {}),
    ...(metadata ? { metadata } : {}),
  };
  // An error of the caller's file or function must not look like one of the network.
  const broken = new AbortController();
  const signal = upload.signal ? AbortSignal.any([upload.signal, broken.signal]) : broken.signal;
  const { content, isRepeatable } = contentOf(upload);
  const name = upload.name ?? nameOf(upload.file);
  const contentType = upload.contentType ?? typeOf(upload.file, name);
  const input = { workspaceId, name, contentType, size: content.sizeBytes, ...labels };
  const created = await record(uploading, input, { signal, idempotencyKey });
  const { document, upload: target, duplicateOf } = created;
  if (duplicateOf) upload.onDuplicate?.(duplicateOf);
  // The workspace has `onDuplicate: return`: this document was there before.
  if (!target) return document;
  const onBroken = (error: unknown) => broken.abort(error);
  const onSent = (sentBytes: number) => {
    try {
      upload.onProgress?.({ sentBytes, totalBytes: content.sizeBytes });
    } catch (error) {
      onBroken(error);
    }
  };
  const policy = isRepeatable ? retries : { ...retries, attempts: 1 };
  try {
    await withRetries({ retries: policy, repetition: 'repeatable', signal }, (tries) =>
      put({ target, content, onSent, onBroken, signal, timeoutMs, fetch }).catch((error: unknown) => {
        // The object exists already: the response to an earlier try was lost, or an earlier program sent it.
        const isRepeated = tries > 1 || idempotencyKey !== undefined;
        if (!(isRepeated && error instanceof SheafError && error.status === 412)) throw error;
      }),
    );
    return await documents.complete({ id: document.id }, { signal });
  } catch (error) {
    // The key finds this document for a day, also once it is deleted.
    if (idempotencyKey !== undefined && (upload.signal?.aborted || isPassing(error) || (await mayBeComplete(uploading, document.id))))
      throw error;
    const withdrawn = withdraw(uploading, document.id);
    // After a refusal the caller may exit at once, and would leave the document behind. Without a response there may be none to this either.
    if (error instanceof SheafError && error.status > 0) await withdrawn;
    throw error;
  }
}

/** Whether the same upload may succeed later: its response was lost, it was too slow, or whoever refused it may take it another time. */
function isPassing(error: unknown): boolean {
  return mayRepeat(error, 'repeatable') || (error instanceof SheafError && (error.status === 408 || error.status >= 500));
}

/** Whether an earlier program with the same key has sent the bytes, or that cannot be found out. */
async function mayBeComplete({ documents }: Uploading, id: string): Promise<boolean> {
  const completion = documents.complete({ id }, { signal: AbortSignal.timeout(withdrawalMs) });
  return await completion.then(
    () => true,
    (error) => !(error instanceof SheafError) || isPassing(error),
  );
}

interface Recording {
  signal: AbortSignal;
  idempotencyKey: string | undefined;
}

/** Records the document. If the signal aborts meanwhile, the document is deleted once its id is known, unless its key finds it again. */
async function record(uploading: Uploading, input: CreateUpload, { signal, idempotencyKey }: Recording): Promise<Created> {
  signal.throwIfAborted();
  if (idempotencyKey !== undefined) return await uploading.documents.createUpload(input, { signal, idempotencyKey });
  const late = new AbortController();
  const recording = uploading.documents.createUpload(input, { signal: late.signal });
  const onceKnown = () => {
    const timer = setTimeout(() => late.abort(), withdrawalMs);
    // Without a target the document was there before, and is none of this upload's.
    const settled = recording.then(({ document, upload }) => (upload ? withdraw(uploading, document.id) : undefined));
    void settled.catch(() => undefined).finally(() => clearTimeout(timer));
  };
  return new Promise<Created>((resolve, reject) => {
    const onAbort = () => {
      reject(signal.reason);
      onceKnown();
    };
    signal.addEventListener('abort', onAbort, { once: true });
    void recording.then(resolve, reject).finally(() => signal.removeEventListener('abort', onAbort));
  });
}

/** Deletes a document, again if the response is lost. Never rejects: the service removes a remaining document within a day. */
async function withdraw({ documents, retries }: Uploading, id: string): Promise<void> {
  const signal = AbortSignal.timeout(withdrawalMs);
  const deletion = withRetries({ retries, repetition: 'repeatable', signal }, () => documents.delete({ id }, { signal }));
  await deletion.catch(() => undefined);
}
