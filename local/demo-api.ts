import { setTimeout as delay } from 'node:timers/promises';
import { z } from 'zod';
import { contract } from '../contract/index.ts';
import type { AnyRoute } from '../contract/route.ts';
import { formatBytes } from './demo-text.ts';

const requestTimeoutMs = 30_000;
const maxTries = 4;

const errorSchema = z.object({
  code: z.string().optional(),
  error: z.string().optional(),
  message: z.string().optional(),
  data: z.object({ maxBytes: z.number().optional() }).nullish(),
});

// An empty object, whose keys count as any string, asks for nothing.
type Input<S> = S extends z.ZodType ? (string extends keyof NonNullable<z.input<S>> ? unknown : z.input<S>) : unknown;

/** What a route takes, before its defaults. */
export type CallInput<R extends AnyRoute> = Input<R['pathParams']> & Input<R['query']> & Input<R['body']>;

/** The service refused a request, or did not answer it. The message is for the user. */
export class RequestError extends Error {
  readonly code: string;

  constructor(code: string, message: string, cause?: unknown) {
    super(message, { cause });
    this.name = 'RequestError';
    this.code = code;
  }
}

/** The REST interface of one service, as one user. */
export class DemoApi {
  readonly url: string;
  readonly signal: AbortSignal;
  token = '';

  /** `url` is the service's root, without a trailing slash; `signal` ends every request. */
  constructor(url: string, signal: AbortSignal) {
    this.url = url;
    this.signal = signal;
  }

  /** Calls an operation of the contract, and answers what the contract says it answers. Throws {@link RequestError}. */
  async call<R extends AnyRoute>(route: R, input: CallInput<R>): Promise<z.output<R['responses'][200]>> {
    const response = await this.#send(route.method, `/api/v1${pathOf(route, input as Fields)}`, bodyOf(route, input as Fields));
    return route.responses[200].parse(await response.json()) as z.output<R['responses'][200]>;
  }

  /** Signs up a new user, whom later calls are made as. */
  async signUp(user: { name: string; email: string; password: string }): Promise<void> {
    const response = await this.#send('POST', '/api/auth/sign-up/email', user);
    await response.body?.cancel();
    const token = response.headers.get('set-auth-token');
    if (token === null) {
      throw new RequestError('UNAUTHORIZED', `${this.url} lets nobody in before the email address is verified: the demo cannot sign up.`);
    }
    this.token = token;
  }

  async createOrganization(organization: { name: string; slug: string }): Promise<{ id: string }> {
    const response = await this.#send('POST', '/api/auth/organization/create', organization);
    return z.object({ id: z.string() }).parse(await response.json());
  }

  /** Opens the live stream of an organization's jobs, after an event that was seen. Throws {@link RequestError}. */
  async openStream(
    organizationId: string,
    { lastEventId, signal }: { lastEventId: string | undefined; signal: AbortSignal },
  ): Promise<ReadableStream<Uint8Array>> {
    const path = `/api/v1${pathOf(contract.jobs.stream, { organizationId })}`;
    const headers = { accept: 'text/event-stream', ...(lastEventId === undefined ? {} : { 'last-event-id': lastEventId }) };
    const response = await this.#fetch(path, { headers, signal });
    if (!response.ok || !response.body) throw await refusal(response);
    return response.body;
  }

  async #send(method: string, path: string, body?: unknown): Promise<Response> {
    const headers: Record<string, string> = body === undefined ? {} : { 'content-type': 'application/json' };
    const request = { method, headers, ...(body === undefined ? {} : { body: JSON.stringify(body) }) };
    for (let tries = 1; ; tries++) {
      const signal = AbortSignal.any([this.signal, AbortSignal.timeout(requestTimeoutMs)]);
      const response = await this.#fetch(path, { ...request, signal });
      if (response.ok) return response;
      const refused = await refusal(response);
      const waitSeconds = Number(response.headers.get('retry-after') ?? Number.NaN);
      if (response.status !== 429 || !(waitSeconds <= 60) || tries === maxTries) throw refused;
      await delay(waitSeconds * 1000, undefined, { signal: this.signal });
    }
  }

  async #fetch(path: string, init: RequestInit & { headers: Record<string, string> }): Promise<Response> {
    const authorization = this.token === '' ? {} : { authorization: `Bearer ${this.token}` };
    try {
      return await fetch(`${this.url}${path}`, { signal: this.signal, ...init, headers: { ...init.headers, ...authorization } });
    } catch (error) {
      this.signal.throwIfAborted();
      throw new RequestError('UNREACHABLE', `${this.url} does not answer.`, error);
    }
  }
}

type Fields = Record<string, unknown>;

function pathOf(route: AnyRoute, input: Fields): string {
  const path = route.path.replace(/:(\w+)/g, (_, name: string) => encodeURIComponent(String(input[name])));
  const query = new URLSearchParams();
  for (const name of Object.keys(route.query?.shape ?? {})) if (input[name] !== undefined) query.set(name, String(input[name]));
  return query.size === 0 ? path : `${path}?${query}`;
}

function bodyOf(route: AnyRoute, input: Fields): Fields | undefined {
  if (route.body === undefined) return undefined;
  const elsewhere = new Set([...Object.keys(route.pathParams?.shape ?? {}), ...Object.keys(route.query?.shape ?? {})]);
  return Object.fromEntries(Object.entries(input).filter(([name]) => !elsewhere.has(name)));
}

async function refusal(response: Response): Promise<RequestError> {
  const parsed = errorSchema.safeParse(await response.json().catch(() => undefined));
  const { code, error, message, data } = parsed.data ?? {};
  const limit = data?.maxBytes === undefined ? '' : ` At most ${formatBytes(data.maxBytes)} are taken.`;
  return new RequestError(code ?? error ?? String(response.status), (message ?? `The service answered ${response.status}.`) + limit);
}
