import type { Contract } from '../contract/index.ts';
import { SheafError } from './errors.ts';
import { type Content, put } from './put.ts';
import { type RetryOptions, withRetries } from './retry.ts';
import type { ContentType, Document, Procedures } from './types.ts';

/** How long the caller of a refused upload waits for the document to be deleted. */
const withdrawalMs = 5_000;

/** Bytes, or a function that opens a stream of them: it can be called again if the connection breaks, while a stream cannot be reread. */
export type UploadSource = Blob | Uint8Array | ArrayBuffer | ReadableStream<Uint8Array> | (() => ReadableStream<Uint8Array>);

export interface Upload {
  workspaceId: string;
  file: UploadSource;
  /** On one line, at most 200 characters; by default the name of a `File`. */
  name?: string | undefined;
  /** By default the type of a `Blob`. */
  contentType?: ContentType | undefined;
  /** In bytes; required for a stream. */
  size?: number | undefined;
  tags?: string[] | undefined;
  /** Any JSON object. */
  metadata?: Record<string, unknown> | undefined;
  /** Called while the bytes are sent. The count restarts if they are sent again after the connection broke. */
  onProgress?: ((progress: { sentBytes: number; totalBytes: number }) => void) | undefined;
  /** Aborts the upload and deletes the document. */
  signal?: AbortSignal | undefined;
}

export interface Uploading {
  documents: Procedures<Contract['documents']>;
  retries: RetryOptions;
  fetch: typeof globalThis.fetch;
}

/** Records a document, sends its bytes to the signed target, and completes it. If that fails, the document is deleted. */
export async function uploadDocument({ documents, retries, fetch }: Uploading, upload: Upload): Promise<Document> {
  const { workspaceId, tags, metadata } = upload;
  const labels = { ...(tags ? { tags } : {}), ...(metadata ? { metadata } : {}) };
  const broken = new AbortController();
  const signal = upload.signal ? AbortSignal.any([upload.signal, broken.signal]) : broken.signal;
  const { content, isRepeatable } = contentOf(upload);
  const name = upload.name ?? nameOf(upload.file);
  const contentType = upload.contentType ?? typeOf(upload.file);
  const created = await documents.createUpload({ workspaceId, name, contentType, size: content.sizeBytes, ...labels }, { signal });
  const { document, upload: target } = created;
  const onSent = (sentBytes: number) => {
    try {
      upload.onProgress?.({ sentBytes, totalBytes: content.sizeBytes });
    } catch (error) {
      // An error of the caller's function must not look like one of the network.
      broken.abort(error);
    }
  };
  const policy = isRepeatable ? retries : { ...retries, attempts: 1 };
  try {
    await withRetries({ retries: policy, repetition: 'repeatable', signal }, (tries) =>
      put({ target, content, onSent, signal, fetch }).catch((error: unknown) => {
        // The object exists already: the response to an earlier try was lost.
        if (!(tries > 1 && error instanceof SheafError && error.status === 412)) throw error;
      }),
    );
    return await documents.complete({ id: document.id }, { signal });
  } catch (error) {
    // After a refusal the caller may exit at once, and would leave the document behind. Without a response there may be none to this either.
    const isRefused = error instanceof SheafError && error.status > 0;
    const withdrawn = documents.delete({ id: document.id }, isRefused ? { signal: AbortSignal.timeout(withdrawalMs) } : {});
    const settled = withdrawn.catch(() => undefined);
    if (isRefused) await settled;
    throw error;
  }
}

function contentOf({ file, size }: Upload): { content: Content; isRepeatable: boolean } {
  if (typeof file === 'function' || file instanceof ReadableStream) {
    if (size === undefined) throw new TypeError('The upload of a stream needs its size.');
    const stream = typeof file === 'function' ? file : () => file;
    return { content: { sizeBytes: size, stream }, isRepeatable: typeof file === 'function' };
  }
  const blob = file instanceof Blob ? file : new Blob([file as Uint8Array<ArrayBuffer>]);
  return { content: { sizeBytes: blob.size, stream: () => blob.stream() }, isRepeatable: true };
}

function nameOf(file: UploadSource): string {
  const { name } = file as { name?: unknown };
  if (file instanceof Blob && typeof name === 'string') return name;
  throw new TypeError('The upload needs a name.');
}

function typeOf(file: UploadSource): ContentType {
  // The service checks which types it accepts.
  if (file instanceof Blob && file.type !== '') return file.type.split(';')[0] as ContentType;
  throw new TypeError('The upload needs a content type.');
}
