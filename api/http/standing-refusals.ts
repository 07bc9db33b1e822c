import { createHash } from 'node:crypto';
import type { Request, RequestHandler, Response } from 'express';
import { KeptWaiting } from '../kept-waiting.ts';
import { TurnsTaken } from '../turns-taken.ts';
import { noteOrganization, organizationOf } from './request.ts';

interface Refusal {
  error: TurnsTaken;
  stands(): boolean;
  organizationId: string | undefined;
  /** When the client was told to come again. */
  until: number;
  /** When it is asked anew who the client is, and what it may do. */
  checkedUntil: number;
}

/** A refusal is repeated for so long. */
const longestMs = 30_000;

/** How many refusals are remembered: the oldest are forgotten. */
const mostRemembered = 2_000;

/**
 * Refuses a client again that was refused because its organization had all its turns, as long as the organization has them still: at once, or
 * about a second later if it comes back earlier than it was told. Nothing is read for it, so that many clients cost others little
 * (docs/decisions/limits.md).
 */
export class StandingRefusals {
  readonly #refusals = new Map<string, Refusal>();
  readonly #kept = new KeptWaiting();

  readonly refuseAgain: RequestHandler = async (req, res, next) => {
    const refusal = this.#find(req);
    if (!refusal) return next();
    if (refusal.organizationId !== undefined) noteOrganization(res, refusal.organizationId);
    const isEarly = performance.now() < refusal.until;
    if (isEarly) await this.#kept.keep(res);
    else refusal.until = untilAgain(refusal.error);
    throw refusal.error;
  };

  #find(req: Request): Refusal | undefined {
    if (this.#refusals.size === 0) return undefined;
    const key = keyOf(req);
    const refusal = this.#refusals.get(key);
    if (refusal && performance.now() < refusal.checkedUntil && refusal.stands()) return refusal;
    this.#refusals.delete(key);
    return undefined;
  }

  /** Remembers why a request failed, if it would fail again. A refusal is not made longer by those who repeat it. */
  remember(error: unknown, req: Request, res: Response): void {
    if (!(error instanceof TurnsTaken) || !error.stands) return;
    const key = keyOf(req);
    if (this.#refusals.has(key)) return;
    const [oldest] = this.#refusals.keys();
    if (oldest !== undefined && this.#refusals.size >= mostRemembered) this.#refusals.delete(oldest);
    const times = { until: untilAgain(error), checkedUntil: performance.now() + longestMs };
    this.#refusals.set(key, { error, stands: error.stands, organizationId: organizationOf(res), ...times });
  }
}

function untilAgain({ retryAfterSeconds = 0 }: TurnsTaken): number {
  return performance.now() + 1_000 * retryAfterSeconds;
}

/** Who asks for what: the path names the organization or a row of it. Credentials are not kept. */
function keyOf(req: Request): string {
  const { authorization = '', cookie = '' } = req.headers;
  const [path = ''] = req.originalUrl.split('?');
  return createHash('sha256')
    .update(JSON.stringify([authorization, cookie, req.method, path]))
    .digest('base64');
}
