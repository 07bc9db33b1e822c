import { lostResponse, SheafError, unexpectedResponse, withRootHint } from './errors.ts';
import { type RetryOptions, withDeadline, withRetries } from './retry.ts';
import { parseRetryAfter } from './retry-after.ts';
import type { CallOptions } from './types.ts';

/** The credentials of calls. */
export interface Session {
  readonly credentials: 'omit' | 'include';
  /** The headers of the session. */
  headers(): Record<string, string>;
}

/** A user, as sign-in returns it. */
export interface SignedUser {
  id: string;
  email: string;
  name: string;
}

export interface Organization {
  id: string;
  name: string;
  slug: string;
}

/** Sign-in, and the creation of the organization that a new user needs first. */
export interface Auth {
  /** The bearer token; undefined while nobody is signed in, and with cookies. */
  readonly token: string | undefined;
  /** Creates a user. `signedIn` is false if the email address must be verified first. Retried only after 429. */
  signUp(user: { name: string; email: string; password: string }, options?: CallOptions): Promise<{ user: SignedUser; signedIn: boolean }>;
  /** Later calls are made as this user. Rejects with `INVALID_EMAIL_OR_PASSWORD`, `EMAIL_NOT_VERIFIED`, `TWO_FACTOR_CODE_NEEDED`, … */
  signIn(credentials: { email: string; password: string }, options?: CallOptions): Promise<{ user: SignedUser }>;
  /** Ends the session, in the service and in this client. */
  signOut(options?: CallOptions): Promise<void>;
  /** Creates an organization; the caller becomes its owner. */
  createOrganization(organization: { name: string; slug: string }, options?: CallOptions): Promise<Organization>;
}

interface SessionOptions {
  url: string;
  mode: 'bearer' | 'cookie';
  token: string | undefined;
  onToken: ((token: string | undefined) => void) | undefined;
  fetch: typeof globalThis.fetch;
  retries: RetryOptions;
  timeoutMs: number;
}

/** Keeps the session of one client: a bearer token in memory, or the browser's cookie. */
export function createSession({ url, mode, token, onToken, fetch, retries, timeoutMs }: SessionOptions): { session: Session; auth: Auth } {
  let current = token;
  const session: Session = {
    credentials: mode === 'cookie' ? 'include' : 'omit',
    headers: (): Record<string, string> => (current === undefined ? {} : { authorization: `Bearer ${current}` }),
  };

  function keep(next: string | undefined): void {
    if (mode === 'cookie' || next === current) return;
    current = next;
    onToken?.(next);
  }

  async function post(path: string, body: object, options: CallOptions & { anonymous?: boolean } = {}): Promise<Received> {
    const headers = { 'content-type': 'application/json', ...(options.anonymous ? {} : session.headers()) };
    // A redirect is not followed: it would send the password on, to any server.
    const init: RequestInit = { method: 'POST', headers, body: JSON.stringify(body), credentials: session.credentials, redirect: 'manual' };
    return withRetries({ retries, repetition: 'once', signal: options.signal }, () => {
      const signal = withDeadline(options.timeoutMs ?? timeoutMs, options.signal);
      return responseOf(url, () => fetch(`${url}/api/auth/${path}`, { ...init, signal }));
    });
  }

  const auth: Auth = {
    get token() {
      return mode === 'cookie' ? undefined : current;
    },
    async signUp(user, options) {
      const { token, body } = await post('sign-up/email', user, { ...options, anonymous: true });
      const { user: created, token: session } = body as { user: SignedUser; token: string | null };
      if (!created) throw unexpectedResponse(url);
      keep(token);
      return { user: created, signedIn: session !== null };
    },
    async signIn(credentials, options) {
      const { token, body } = await post('sign-in/email', credentials, { ...options, anonymous: true });
      const { user, twoFactorRedirect } = body as { user: SignedUser; twoFactorRedirect?: boolean };
      if (twoFactorRedirect)
        throw new SheafError('TWO_FACTOR_CODE_NEEDED', 'This user has two-factor, whose code this client does not send.');
      if (!user) throw unexpectedResponse(url);
      keep(token);
      return { user };
    },
    async signOut(options) {
      await post('sign-out', {}, options);
      keep(undefined);
    },
    async createOrganization(organization, options) {
      return (await post('organization/create', organization, options)).body as Organization;
    },
  };
  return { session, auth };
}

interface Received {
  token: string | undefined;
  body: unknown;
}

async function responseOf(url: string, request: () => Promise<Response>): Promise<Received> {
  let response: Response;
  let body: unknown;
  try {
    response = await request();
    const text = await response.text();
    body = response.headers.get('content-type')?.includes('json') ? JSON.parse(text) : text;
  } catch (error) {
    throw lostResponse(error);
  }
  const isRedirect = response.type === 'opaqueredirect' || (response.status >= 300 && response.status < 400);
  if (isRedirect || (response.ok && (typeof body !== 'object' || body === null))) throw unexpectedResponse(url);
  if (response.ok) return { token: response.headers.get('set-auth-token') ?? undefined, body };
  const { code, error, message, defined } = (body ?? {}) as { code?: string; error?: string; message?: string; defined?: boolean };
  const refusal = new SheafError(code ?? error ?? `HTTP_${response.status}`, message ?? `The service responded with ${response.status}.`, {
    status: response.status,
    requestId: response.headers.get('x-request-id') ?? undefined,
    retryAfterMs: parseRetryAfter(response.headers.get('retry-after')),
  });
  // A 404 of sign-in itself, such as USER_NOT_FOUND, is defined.
  throw defined ? refusal : withRootHint(refusal, url);
}
