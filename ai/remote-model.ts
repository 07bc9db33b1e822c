import { z } from 'zod';
import { cannotConnect } from '../base/cannot-connect.ts';
import type { RemoteModel, RemoteRole } from '../base/config/remote-models.ts';
import { readRetryAfterMs } from '../base/retry-after.ts';
import { providerState } from './provider-state.ts';
import { saysTooLong } from './says-too-long.ts';
import { ServiceError, type ServiceErrorOptions } from './service-error.ts';
import { countCall } from './usage.ts';

/** The time limit of a call to the remote model, and the signal of its caller. */
interface RemoteCall {
  role: RemoteRole;
  timeoutMs: number;
  signal: AbortSignal;
  /** The prefix of the error codes: `<name>_failed`, `<name>_timeout`. */
  name: 'remote' | 'ocr';
}

/**
 * Posts to the endpoint of a remote model and validates the response. Throws ServiceError 413 if a text is too long for the model; 502, with the
 * remote's `Retry-After`, for all other failures, 4xx included, since a wrong key is not the document's fault (`ofDocument` if it refuses an
 * image); or the signal's reason.
 */
export async function askRemote<T extends z.ZodType>(
  remote: RemoteModel,
  path: keyof typeof tooLong,
  body: object,
  schema: T,
  { role, timeoutMs, signal, name }: RemoteCall,
): Promise<z.output<T>> {
  const timeout = AbortSignal.timeout(timeoutMs);
  // Until the provider refuses the call, or says what it used, it may have been paid for.
  let mayCost = true;
  try {
    const response = await fetch(`${remote.baseUrl}${path}`, {
      method: 'POST',
      headers: { ...(remote.key === undefined ? {} : { authorization: `Bearer ${remote.key}` }), 'content-type': 'application/json' },
      body: JSON.stringify({ model: remote.model, ...body }),
      signal: AbortSignal.any([timeout, signal]),
      // A redirect would send the key and the document to a host that nobody configured.
      redirect: 'error',
    });
    if (!response.ok) {
      mayCost = false;
      // The body is read, so that the connection can be reused. It is not logged, since it may quote the document.
      const said = await response.text();
      if (name === 'remote' && saysTooLong(response.status, said)) throw new ServiceError(413, 'text_too_long_for_model', tooLong[path]);
      const ofDocument = name === 'ocr' && refusals.has(response.status);
      const state = providerState(response.status, said);
      throw failed(name, `The remote model responded with ${response.status}.`, {
        // What was paid for does not come back after a while.
        retryAfterSeconds: retryAfterSeconds(response, state === 'limited' ? rateLimitedSeconds : undefined),
        ofDocument,
        provider: state && { role, state },
      });
    }
    const answered = JSON.parse(await readBounded(response));
    countCall(role, remote.model, answered);
    mayCost = false;
    const parsed = schema.safeParse(answered);
    if (!parsed.success) throw failed(name, 'The remote model responded in an unknown form.');
    return parsed.data;
  } catch (error) {
    if (mayCost && !cannotConnect(error)) countCall(role, remote.model, undefined);
    signal.throwIfAborted();
    if (error instanceof ServiceError) throw error;
    if (timeout.aborted) throw new ServiceError(502, `${name}_timeout`, 'The remote model did not respond in time.');
    const provider = cannotConnect(error) ? ({ role, state: 'unreachable' } as const) : undefined;
    throw failed(name, error instanceof Error ? `${error.message}: ${String(error.cause)}` : 'unknown', { provider });
  }
}

/** Vectors of 64 texts with 16,000 numbers each are smaller. */
const maxResponseBytes = 64 * 1024 * 1024;

async function readBounded({ body }: Response): Promise<string> {
  const parts: Uint8Array[] = [];
  let bytes = 0;
  for await (const part of body ?? []) {
    bytes += part.length;
    if (bytes > maxResponseBytes) throw new Error(`it responded with more than ${maxResponseBytes} bytes`);
    parts.push(part);
  }
  return Buffer.concat(parts).toString();
}

/** The tenant sees this message and can report it to the operator. */
const tooLong = {
  '/chat/completions': 'The text is longer than the remote model takes.',
  '/rerank': 'A text is longer than the model that ranks takes.',
  '/embeddings': 'A text is longer than the embedding model takes. Documents fit in shorter chunks (chunkCharacters of REMOTE_AI_EMBED).',
};

/** A model says so of one image that it takes the others of: it is too large, or shows what the model must not read. */
const refusals = new Set([400, 413, 415, 422]);

function failed(
  name: string,
  detail: string,
  options: Pick<ServiceErrorOptions, 'retryAfterSeconds' | 'ofDocument' | 'provider'> = {},
): ServiceError {
  const message = 'The remote model could not serve the request.';
  return new ServiceError(502, `${name}_failed`, message, { cause: new Error(detail), ...options });
}

/** For a remote that limits its rate and does not say for how long. A caller must not take that for a fault of its document. */
const rateLimitedSeconds = 5;

/** At least one: a remote whose clock is slow names a date that has passed. */
function retryAfterSeconds({ headers }: Response, unless: number | undefined): number | undefined {
  const ms = readRetryAfterMs(headers.get('retry-after'));
  return ms === undefined ? unless : Math.max(1, Math.ceil(ms / 1000));
}

/** A response of `/chat/completions`, reduced to the text of its first choice. */
export const chatCompletion = z
  .object({ choices: z.array(z.object({ message: z.object({ content: z.string().nullable() }) })).min(1) })
  .transform(({ choices }) => choices[0]?.message.content?.trim() ?? '');

/**
 * Asks the remote chat model to follow `instructions` on `material`, which it gets as JSON: so no document can end its passage and go on as
 * somebody else. Returns the text of its message. Throws as {@link askRemote}.
 */
export async function askInJson(
  remote: RemoteModel,
  { instructions, material }: { instructions: string; material: object },
  { timeoutMs, signal }: { timeoutMs: number; signal: AbortSignal },
): Promise<string> {
  const messages = [
    { role: 'system', content: instructions },
    { role: 'user', content: JSON.stringify(material) },
  ];
  const body = { temperature: 0, messages };
  return await askRemote(remote, '/chat/completions', body, chatCompletion, { role: 'chat', timeoutMs, signal, name: 'remote' });
}
