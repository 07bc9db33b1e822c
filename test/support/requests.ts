import { recorder } from './recorder.ts';
import { noteRequest, noteSignatures, noteTokens } from './run-secrets.ts';

/** An answer of the API, its body parsed if it is JSON. */
export interface Answer<T = any> {
  status: number;
  headers: Headers;
  body: T;
}

export interface RequestOptions {
  token?: string | undefined;
  /** A string is sent as it is. */
  body?: unknown;
  headers?: Record<string, string>;
  signal?: AbortSignal;
}

/** How tests call an API. Each answer is checked against the OpenAPI document, and what must not be logged is noted. */
export interface Requests {
  /** Sends a request to a path below the API's root, such as `/api/v1/me`. */
  request<T = any>(method: string, path: string, options?: RequestOptions): Promise<Answer<T>>;
  /** Calls a procedure over `/rpc`: `rpc('jobs.get', { id })`. */
  rpc<T = any>(operation: string, input: unknown, options?: RequestOptions): Promise<Answer<T>>;
}

/** Calls the API at a URL. */
export function createRequests(url: string): Requests {
  async function request(method: string, path: string, { token, body, headers = {}, signal }: RequestOptions = {}): Promise<Answer> {
    const requestHeaders = new Headers({
      ...(token ? { authorization: `Bearer ${token}` } : {}),
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...headers,
    });
    const response = await fetch(`${url}${path}`, {
      method,
      headers: requestHeaders,
      ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
      ...(signal ? { signal } : {}),
    });
    const text = await response.text();
    noteTokens(token, response.headers.get('set-auth-token') ?? undefined);
    noteRequest(body);
    noteSignatures(text);
    const json = response.headers.get('content-type')?.includes('/json');
    const answer = { status: response.status, headers: response.headers, body: json && text !== '' ? JSON.parse(text) : text };
    recorder.check({ method, path, requestHeaders, ...answer });
    return answer;
  }
  return {
    request,
    rpc: (operation, input, options = {}) =>
      request('POST', `/rpc/${operation.replaceAll('.', '/')}`, { ...options, body: { json: input } }),
  };
}

/** For what a test sets up: throws unless the answer is 200. */
export async function expectOk(answer: Promise<Answer>): Promise<Answer> {
  const got = await answer;
  if (got.status !== 200) throw new Error(`the set-up of a test got ${got.status}: ${JSON.stringify(got.body)}`);
  return got;
}
