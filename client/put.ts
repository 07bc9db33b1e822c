import { lostAnswer, SheafError } from './errors.ts';
import { parseRetryAfter } from './retry.ts';

const pieceBytes = 64 * 1024;

/** Where and how the bytes of an upload are sent, as `documents.createUpload` answers it. */
export interface SignedTarget {
  url: string;
  headers: Record<string, string>;
}

/** Bytes that can be read: once, or as often as needed. */
export interface Content {
  sizeBytes: number;
  stream(): ReadableStream<Uint8Array>;
}

export interface Put {
  target: SignedTarget;
  content: Content;
  onSent(sentBytes: number): void;
  signal: AbortSignal | undefined;
  fetch: typeof globalThis.fetch;
}

/**
 * Sends bytes to a signed target, with exactly its headers. Rejects with SheafError, whose code is the target's own
 * (`too_large`, `invalid_signature`, …), or with the signal's reason.
 */
export function put(request: Put): Promise<void> {
  const { XMLHttpRequest } = globalThis as { XMLHttpRequest?: new () => Xhr };
  return XMLHttpRequest ? putByXhr(new XMLHttpRequest(), request) : putByFetch(request);
}

async function putByFetch({ target, content, onSent, signal, fetch }: Put): Promise<void> {
  const body = metered(content, onSent);
  // Without the length a stream would go out in chunks, which the service refuses.
  const headers = { ...target.headers, 'content-length': String(content.sizeBytes) };
  const init = { method: 'PUT', headers, body, duplex: 'half', credentials: 'omit', ...(signal ? { signal } : {}) } as RequestInit;
  let response: Response;
  let text: string;
  try {
    response = await fetch(target.url, init);
    text = await response.text();
  } catch (error) {
    signal?.throwIfAborted();
    throw causeOf(error);
  }
  if (!response.ok) throw refusal(response.status, text, (name) => response.headers.get(name));
}

/** Browsers tell the progress of a request to XMLHttpRequest alone, and stream no request over HTTP/1.1. */
async function putByXhr(xhr: Xhr, { target, content, onSent, signal }: Put): Promise<void> {
  const blob = await new Response(metered(content, () => undefined) as ReadableStream<Uint8Array<ArrayBuffer>>).blob().catch((error) => {
    throw causeOf(error);
  });
  signal?.throwIfAborted();
  await new Promise<void>((resolve, reject) => {
    const abort = () => xhr.abort();
    xhr.upload.onprogress = ({ loaded }) => onSent(loaded);
    xhr.onload = () => {
      if (xhr.status >= 200 && xhr.status < 300) resolve();
      else reject(refusal(xhr.status, xhr.responseText, (name) => xhr.getResponseHeader(name)));
    };
    xhr.onerror = () => reject(lostAnswer(undefined));
    xhr.onabort = () => reject(signal?.reason);
    xhr.onloadend = () => signal?.removeEventListener('abort', abort);
    xhr.open('PUT', target.url);
    for (const [name, value] of Object.entries(target.headers)) xhr.setRequestHeader(name, value);
    signal?.addEventListener('abort', abort, { once: true });
    xhr.send(blob);
  });
}

/** Bytes in pieces small enough to tell of progress, counted as they are asked for and held to the size that was declared. */
function metered({ sizeBytes, stream }: Content, onSent: (sentBytes: number) => void): ReadableStream<Uint8Array> {
  const reader = stream().getReader();
  let rest = new Uint8Array();
  let sentBytes = 0;
  const wrong = (what: string) => new SheafError('WRONG_SIZE', `The file has ${what} than the ${sizeBytes} bytes that were declared.`);
  return new ReadableStream(
    {
      async pull(controller) {
        while (rest.byteLength === 0) {
          const next = await reader.read();
          if (next.done && sentBytes < sizeBytes) throw wrong('fewer');
          if (next.done) return controller.close();
          rest = next.value as Uint8Array<ArrayBuffer>;
        }
        const piece = rest.subarray(0, pieceBytes);
        rest = rest.subarray(piece.byteLength);
        sentBytes += piece.byteLength;
        if (sentBytes > sizeBytes) throw wrong('more');
        controller.enqueue(piece);
        onSent(sentBytes);
      },
      cancel: (reason) => reader.cancel(reason),
    },
    { highWaterMark: 0 },
  );
}

/** The counter's error where that is what broke the request, whatever fetch wraps it in. */
function causeOf(error: unknown): SheafError {
  for (let cause = error; cause instanceof Error; cause = cause.cause) if (cause instanceof SheafError) return cause;
  return lostAnswer(error);
}

function refusal(status: number, body: string, header: (name: string) => string | null): SheafError {
  return new SheafError(codeIn(body) ?? `HTTP_${status}`, `The upload was refused with ${status}.`, {
    status,
    data: body.slice(0, 1_000),
    requestId: header('x-request-id') ?? undefined,
    retryAfterMs: parseRetryAfter(header('retry-after')),
  });
}

function codeIn(body: string): string | undefined {
  try {
    const { error } = JSON.parse(body) as { error?: unknown };
    return typeof error === 'string' ? error : undefined;
  } catch {
    return undefined;
  }
}

/** What is used of XMLHttpRequest; the types of browsers are not those of Node. */
interface Xhr {
  readonly status: number;
  readonly responseText: string;
  readonly upload: { onprogress: ((event: { loaded: number }) => void) | null };
  onload: (() => void) | null;
  onerror: (() => void) | null;
  onabort: (() => void) | null;
  onloadend: (() => void) | null;
  open(method: string, url: string): void;
  setRequestHeader(name: string, value: string): void;
  getResponseHeader(name: string): string | null;
  send(body: Blob): void;
  abort(): void;
}
