import { AsyncLocalStorage } from 'node:async_hooks';
import type { Logger } from 'pino';
import { FairSemaphore } from '../concurrency/fair-semaphore.ts';
import { ApiError } from '../contract/api-error.ts';
import { shareKey } from '../db/fair-share.ts';
import { basePath } from './body-size.ts';
import { PasswordHasher } from './password-hasher.ts';

type Handler = (request: Request) => Promise<Response>;

const signUpPath = `${basePath}/sign-up/email`;
/** The endpoints of better-auth that hash or verify a password. */
const paths = new Set(
  [
    '/sign-in/email',
    '/sign-up/email',
    '/change-password',
    '/reset-password',
    '/verify-password',
    '/delete-user',
    '/admin/create-user',
    '/admin/set-user-password',
  ].map((path) => `${basePath}${path}`),
);
/** A rest is so many times as long as the work before it. */
const restPerWork = 5;
/** A sign-up also writes a user, an account and a session. */
const restPerSignUp = 15;
/** So that eight who sign up at once wait for less than ten seconds. What took long waited for the database and kept nothing busy. */
const longestRestMs = 1_200;
/** How long a request waits. */
const longestWaitMs = 10_000;

interface Options {
  /** Whether this process serves organizations, whose requests need a processor, too. */
  servesOthers: () => boolean;
  patienceMs?: number;
}

/** Ends the turn of the request that this is done for. */
const turn = new AsyncLocalStorage<() => void>();

/** better-auth's own functions. Each ends the turn of its request, so that nobody waits for what the request does next, such as for a lock. */
export function createPasswords(log: Logger) {
  const hasher = new PasswordHasher({ log });
  return {
    hash: (password: string) => hasher.hash(password).finally(endTurn),
    verify: (given: { hash: string; password: string }) => hasher.verify(given).finally(endTurn),
  };
}

function endTurn(): void {
  turn.getStore()?.();
}

/**
 * Lets one request at a time hash a password, and rests after it if others wait (docs/decisions/limits.md). Users and addresses take turns. A
 * request waits before it has a connection, since a sign-up hashes within its transaction. Throws SERVICE_UNAVAILABLE after ten seconds.
 */
export function inPasswordTurns(handler: Handler, { servesOthers, patienceMs = longestWaitMs }: Options): Handler {
  const turns = new FairSemaphore(1);
  return async (request) => {
    const path = new URL(request.url).pathname.replace(/\/+$/, '');
    if (!paths.has(path)) return await handler(request);
    const release = await turns.acquireWithin(shareKey(), patienceMs);
    if (!release) throw new ApiError('SERVICE_UNAVAILABLE', { message: 'Too many passwords are being checked.', retryAfterSeconds: 5 });
    const startedAt = performance.now();
    let isOver = false;
    const end = () => {
      if (isOver) return;
      isOver = true;
      const restMs = Math.min((path === signUpPath ? restPerSignUp : restPerWork) * (performance.now() - startedAt), longestRestMs);
      if (turns.waiting > 0 && servesOthers()) setTimeout(release, restMs).unref();
      else release();
    };
    try {
      return await turn.run(end, () => handler(request));
    } finally {
      end();
    }
  };
}
