import { setTimeout as delay } from 'node:timers/promises';

const againMs = 200;
const limitMs = 180_000;
const callMs = 15_000;

export interface Call {
  url: string;
  method: string;
  token?: string;
  /** Makes a request whose answer was lost safe to send again. */
  key?: string;
  body?: unknown;
  headers?: Record<string, string>;
  /** Statuses that end it beside 200. */
  accept?: number[];
}

/**
 * Sends a request again and again until it is answered, as a careful client does: a broken connection and a 5xx say nothing.
 * Throws for any other answer that the caller does not accept.
 */
export async function callUntilAnswered(call: Call): Promise<{ status: number; headers: Headers; body: any }> {
  const deadline = Date.now() + limitMs;
  for (;;) {
    const answer = await send(call);
    if (answer && (answer.status === 200 || call.accept?.includes(answer.status))) return answer;
    if (answer && answer.status < 500) throw new Error(`${call.method} ${call.url}: ${answer.status} ${JSON.stringify(answer.body)}`);
    if (Date.now() > deadline) throw new Error(`${call.method} ${call.url}: no answer for ${limitMs / 1_000} s`);
    await delay(againMs);
  }
}

async function send({ url, method, token, key, body, headers = {} }: Call) {
  const all = new Headers(headers);
  if (token) all.set('authorization', `Bearer ${token}`);
  if (key) all.set('idempotency-key', key);
  if (body !== undefined && !all.has('content-type')) all.set('content-type', 'application/json');
  const payload = body === undefined || typeof body === 'string' ? body : JSON.stringify(body);
  try {
    const response = await fetch(url, { method, headers: all, body: payload ?? null, signal: AbortSignal.timeout(callMs) });
    const text = await response.text();
    const json = response.headers.get('content-type')?.includes('json') && text !== '';
    return { status: response.status, headers: response.headers, body: json ? JSON.parse(text) : text };
  } catch {
    // The service is away, or was killed while it answered.
    return undefined;
  }
}
