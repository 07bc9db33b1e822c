import { createClient, SheafError } from '@sheaf/client';
import { createAuthClient } from 'better-auth/client';
import { organizationClient, twoFactorClient } from 'better-auth/client/plugins';

const url = window.location.origin;

/**
 * The service that this page comes from. The session is a cookie that no script can read. Waits 5 s at most for a retry, then fails.
 */
export const service = createClient({ url, session: 'cookie', retries: { maxRetryAfterMs: 5_000 } });

/** For the stream, and for what is done to hundreds of things one by one: waits for a retry as long as the service asks. */
export const background = createClient({ url, session: 'cookie' });

const requestIds = new WeakMap<object, string>();

/** Sign-in, organizations and invitations: better-auth's own client. */
export const auth = createAuthClient({
  baseURL: url,
  plugins: [organizationClient({ teams: { enabled: true } }), twoFactorClient()],
  fetchOptions: {
    onError: ({ error, response }) => void requestIds.set(error, response.headers.get('x-request-id') ?? ''),
  },
});

interface AuthFailure {
  status: number;
  code?: string | undefined;
  message?: string | undefined;
  data?: unknown;
}

/** The data of a call of {@link auth}. Throws {@link SheafError}, as the calls of {@link service} do. */
export async function ask<T>(call: Promise<{ data: T; error: AuthFailure | null }>): Promise<NonNullable<T>> {
  const { data, error } = await call.catch((cause: unknown) => {
    throw new SheafError('NETWORK', String((cause as Error).message), { cause });
  });
  if (error === null) return data as NonNullable<T>;
  const { status, code = `HTTP_${status}`, message = `The service responded with ${status}.`, data: details } = error;
  throw new SheafError(code, message, { status, data: details, requestId: requestIds.get(error) });
}
