import type { z } from 'zod';
import type { RemoteModelConfig } from '../../config/ai-service.ts';
import { ServiceError } from '../service-error.ts';

/** How a call to the remote model ends at the latest, and for whom. */
export interface RemoteCall {
  timeoutMs: number;
  signal: AbortSignal;
  /** What a failure is called: `<name>_failed`, `<name>_timeout`. */
  name: 'remote' | 'ocr';
}

/**
 * Posts to the remote model's endpoint and validates the answer. Throws ServiceError 502 for whatever goes wrong there, a 4xx
 * included (a wrong key is not the document's fault), with the remote's `Retry-After`; or the signal's reason.
 */
export async function askRemote<T extends z.ZodType>(
  remote: RemoteModelConfig,
  path: '/chat/completions' | '/embeddings',
  body: unknown,
  schema: T,
  { timeoutMs, signal, name }: RemoteCall,
): Promise<z.output<T>> {
  const timeout = AbortSignal.timeout(timeoutMs);
  try {
    const response = await fetch(`${remote.baseUrl}${path}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${remote.key}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
      signal: AbortSignal.any([timeout, signal]),
      // A redirect would carry the key and the document to a place nobody configured.
      redirect: 'error',
    });
    if (!response.ok) {
      // The body is drained so that the connection can be used again; it may quote the document, so it goes nowhere.
      await response.arrayBuffer();
      throw failed(name, `The remote model answered ${response.status}.`, retryAfterSeconds(response));
    }
    const answer = schema.safeParse(await response.json());
    if (!answer.success) throw failed(name, 'The remote model answered in an unknown form.');
    return answer.data;
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof ServiceError) throw error;
    if (timeout.aborted) throw new ServiceError(502, `${name}_timeout`, 'The remote model did not answer in time.');
    throw failed(name, error instanceof Error ? `${error.message}: ${String(error.cause)}` : 'unknown');
  }
}

function failed(name: string, detail: string, retryAfter?: number): ServiceError {
  const message = 'The remote model could not serve the request.';
  return new ServiceError(502, `${name}_failed`, message, { cause: new Error(detail), retryAfterSeconds: retryAfter });
}

function retryAfterSeconds(response: Response): number | undefined {
  const seconds = Number(response.headers.get('retry-after') ?? Number.NaN);
  return Number.isFinite(seconds) && seconds >= 0 ? Math.ceil(seconds) : undefined;
}
