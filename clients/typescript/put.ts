import { lostResponse, SheafError } from './errors.ts';
import { longestMs, parseRetryAfter } from './retry-after.ts';

const pieceBytes = 64 * 1024;

/** The URL and headers for the bytes of an upload, as `documents.createUpload` returns them. */
interface SignedTarget {
  url: string;
  headers: Record<string, string>;
}

/** Bytes that can be read once, or repeatedly. */
export interface Content {
  sizeBytes: number;
  stream(): ReadableStream<Uint8Array>;
}

interface Put {
  target: SignedTarget;
  content: Content;
  onSent(sentBytes: number): void;
  /** Called with the error of the bytes, with which `signal` then aborts. */
  onBroken(error: unknown): void;
  signal: AbortSignal | undefined;
  /** How long nothing may be sent, and how long the response may then take. */
  timeoutMs: number;
  fetch: typeof globalThis.fetch;
}

interface Watched extends Omit<Put, 'timeoutMs'> {
  /** Called when the request begins. */
  onBegun(): void;
}

/**
 * Sends bytes to a signed target with exactly its headers. Rejects with SheafError and the code of the target (`too_large`,
 * `invalid_signature`, …), or with the signal's reason.
 */
export async function put({ timeoutMs, ...request }: Put): Promise<void> {
  const { XMLHttpRequest } = globalThis as { XMLHttpRequest?: new () => Xhr };
  const stalled = new AbortController();
  const giveUp = () => stalled.abort(new DOMException('The upload stands still.', 'TimeoutError'));
  let timer: ReturnType<typeof setTimeout> | undefined;
  let isOver = false;
  // The whole has no limit: a large file may take hours.
  const advance = () => {
    clearTimeout(timer);
    // Bytes that are read after the end must not start a timer, which would keep the process alive.
    if (!isOver) timer = setTimeout(giveUp, Math.min(timeoutMs, longestMs));
  };
  const watched: Watched = {
    ...request,
    signal: request.signal ? AbortSignal.any([request.signal, stalled.signal]) : stalled.signal,
    onBegun: advance,
    onSent(sentBytes) {
      advance();
      request.onSent(sentBytes);
    },
  };
  try {
    await (XMLHttpRequest ? putByXhr(new XMLHttpRequest(), watched) : putByFetch(watched));
  } catch (error) {
    throw error === stalled.signal.reason ? lostResponse(error) : error;
  } finally {
    isOver = true;
    clearTimeout(timer);
  }
}

async function putByFetch({ target, content, onBegun, onSent, onBroken, signal, fetch }: Watched): Promise<void> {
  const body = metered(content, { onSent, onBroken });
  // Without the length a stream would be sent with chunked encoding, which the service refuses.
  const headers = { ...target.headers, 'content-length': String(content.sizeBytes) };
  const init = { method: 'PUT', headers, body, duplex: 'half', credentials: 'omit', ...(signal ? { signal } : {}) } as RequestInit;
  let response: Response;
  let text: string;
  onBegun();
  try {
    response = await fetch(target.url, init);
    text = await response.text();
  } catch (error) {
    signal?.throwIfAborted();
    throw causeOf(error);
  }
  if (!response.ok) throw refusal(response.status, text, (name) => response.headers.get(name));
}

/** In browsers only XMLHttpRequest reports upload progress, and `fetch` cannot stream a request over HTTP/1.1. */
async function putByXhr(xhr: Xhr, { target, content, onBegun, onSent, onBroken, signal }: Watched): Promise<void> {
  const bytes = metered(content, { onSent: () => undefined, onBroken }) as ReadableStream<Uint8Array<ArrayBuffer>>;
  const blob = await new Response(bytes).blob().catch((error) => {
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
    xhr.onerror = () => reject(lostResponse(undefined));
    xhr.onabort = () => reject(signal?.reason);
    xhr.onloadend = () => signal?.removeEventListener('abort', abort);
    xhr.open('PUT', target.url);
    for (const [name, value] of Object.entries(target.headers)) xhr.setRequestHeader(name, value);
    signal?.addEventListener('abort', abort, { once: true });
    xhr.send(blob);
    onBegun();
  });
}

/** Splits bytes into pieces small enough to report progress, counts them as they are read, and checks them against the declared size. */
function metered({ sizeBytes, stream }: Content, { onSent, onBroken }: Pick<Put, 'onSent' | 'onBroken'>): ReadableStream<Uint8Array> {
  const reader = stream().getReader();
  let rest = new Uint8Array();
  let sentBytes = 0;
  const wrong = (what: string) => new SheafError('WRONG_SIZE', `The file has ${what} than the ${sizeBytes} bytes that were declared.`);
  return new ReadableStream(
    {
      async pull(controller) {
        while (rest.byteLength === 0) {
          const next = await read(reader).catch((error) => {
            onBroken(error);
            throw error;
          });
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

/** Reads the next bytes. Throws if they are none: a program that is not typed may have given a stream of texts. */
async function read(reader: ReadableStreamDefaultReader<Uint8Array>) {
  const next = await reader.read();
  if (!next.done && !ArrayBuffer.isView(next.value)) throw new TypeError('The stream of an upload must give bytes: Uint8Array.');
  return next;
}

/** The error of `metered` if it ended the request, because fetch wraps it; else NETWORK or TIMEOUT. */
function causeOf(error: unknown): SheafError {
  for (let cause = error; cause instanceof Error; cause = cause.cause) if (cause instanceof SheafError) return cause;
  return lostResponse(error);
}

function refusal(status: number, body: string, header: (name: string) => string | null): SheafError {
  const code = codeIn(body);
  return new SheafError(code ?? `HTTP_${status}`, `The upload was refused with ${status}${code ? ` (${code})` : ''}.`, {
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
    // S3 says it with 400, as it does of what is wrong for good.
    return body.includes('<Code>RequestTimeout</Code>') ? 'RequestTimeout' : undefined;
  }
}

/** The part of XMLHttpRequest that is used, because Node's types do not have it. */
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
