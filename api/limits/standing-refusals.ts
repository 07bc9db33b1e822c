import { createHash } from 'node:crypto';
import type { Request, RequestHandler, Response } from 'express';
import { routeOf } from '../http/identify-route.ts';
import { noteOrganization, organizationOf } from '../http/request.ts';
import { KeptWaiting } from './kept-waiting.ts';
import { setBounded } from './set-bounded.ts';
import { TurnsTaken } from './turns-taken.ts';

interface Refusal {
  error: TurnsTaken;
  stands(): boolean;
  organizationId: string | undefined;
  /** When the client was told to come again. */
  until: number;
  /** When the refusal is forgotten, so that the client is authorized anew. */
  checkedUntil: number;
}

/** How long a refusal is repeated at most. */
const longestMs = 30_000;

/** How many clients are remembered, and how many refusals of each. The oldest are forgotten. */
const mostClients = 2_000;
const mostOfClient = 50;

/**
 * Refuses a client again without reading anything for it, as long as its organization has all the turns that it was refused for: at once,
 * or about a second later if it comes back sooner than it was told. So many clients of one organization cost others little
 * (docs/decisions/limits.md).
 */
export class StandingRefusals {
  /** By client, and by what its request was about. */
  readonly #refusals = new Map<string, Map<string, Refusal>>();
  readonly #kept = new KeptWaiting();

  /** What a call over RPC is about only its body says: read that first if the client {@link wasRefused}. */
  readonly refuseAgain: RequestHandler = async (req, res, next) => {
    const refusal = this.#find(req, res);
    if (!refusal) return next();
    if (refusal.organizationId !== undefined) noteOrganization(res, refusal.organizationId);
    const isEarly = performance.now() < refusal.until;
    if (isEarly) await this.#kept.keep(res);
    else refusal.until = untilAgain(refusal.error);
    throw refusal.error;
  };

  /** Whether the client was refused lately at this path, whatever the request was about. */
  wasRefused(req: Request): boolean {
    return this.#refusals.size > 0 && this.#refusals.has(clientOf(req));
  }

  #find(req: Request, res: Response): Refusal | undefined {
    if (this.#refusals.size === 0) return undefined;
    const client = clientOf(req);
    const ofClient = this.#refusals.get(client);
    const subject = subjectOf(req, res);
    const refusal = ofClient?.get(subject);
    if (refusal && performance.now() < refusal.checkedUntil && refusal.stands()) return refusal;
    ofClient?.delete(subject);
    if (ofClient?.size === 0) this.#refusals.delete(client);
    return undefined;
  }

  /** Remembers why a request failed, if it would fail again. Repeating the request does not make the refusal last longer. */
  remember(error: unknown, req: Request, res: Response): void {
    if (!(error instanceof TurnsTaken) || !error.stands) return;
    const client = clientOf(req);
    const ofClient = this.#refusals.get(client) ?? new Map<string, Refusal>();
    const subject = subjectOf(req, res);
    if (ofClient.has(subject)) return;
    const times = { until: untilAgain(error), checkedUntil: performance.now() + longestMs };
    setBounded(ofClient, subject, { error, stands: error.stands, organizationId: organizationOf(res), ...times }, mostOfClient);
    setBounded(this.#refusals, client, ofClient, mostClients);
  }
}

function untilAgain({ retryAfterSeconds = 0 }: TurnsTaken): number {
  return performance.now() + 1_000 * retryAfterSeconds;
}

/** A key for the credentials and the path of a request. It is a digest, so that no credentials are kept. */
function clientOf(req: Request): string {
  const { authorization = '', cookie = '' } = req.headers;
  return digest([authorization, cookie, req.method, pathOf(req)]);
}

/** The organization that a request is about, or a row of it. A path of REST names it; over RPC it is in the body. */
function subjectOf(req: Request, res: Response): string {
  if (!pathOf(req).startsWith('/rpc/')) return '';
  const { json } = (req.body ?? {}) as { json?: Record<string, unknown> | null };
  return digest(Object.keys(routeOf(res)?.pathParams?.shape ?? {}).map((name) => json?.[name]));
}

function pathOf(req: Request): string {
  const [path = ''] = req.originalUrl.split('?');
  return path;
}

function digest(values: unknown[]): string {
  return createHash('sha256').update(JSON.stringify(values)).digest('base64');
}
