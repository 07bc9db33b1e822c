import type { Request, Response } from 'express';
import { ByteBudget, type ByteBudgetLimits } from '../../concurrency/byte-budget.ts';
import type { Release } from '../../concurrency/fair-semaphore.ts';
import { whenClientLeaves } from '../../concurrency/when-client-leaves.ts';
import { ApiError } from '../../contract/api-error.ts';
import type { Caller } from '../caller.ts';
import { clientAddressOf } from '../http/request.ts';
import { SlowClients } from './slow-clients.ts';

export interface BodyBudgetLimits {
  /** Smaller bodies are not counted. */
  smallBytes: number;
  /** What the bodies of users may hold, and those of addresses without a session. */
  users: ByteBudgetLimits;
  addresses: ByteBudgetLimits;
  /** How long a request waits for room, before its body is read. */
  patienceMs: number;
  /** How long a client may take to send a body, or to read the response, while others wait for the room that the body takes. */
  contendedMs: number;
}

const megabyte = 1024 * 1024;
const defaultLimits: BodyBudgetLimits = {
  smallBytes: 16 * 1024,
  users: { totalBytes: 64 * megabyte, bytesPerKey: 8 * megabyte, maxWaiting: 100 },
  addresses: { totalBytes: 16 * megabyte, bytesPerKey: 2 * megabyte, maxWaiting: 100 },
  patienceMs: 5_000,
  contendedMs: 3_000,
};

/** A body that is counted until its response is over and nothing keeps it. */
export interface HeldBody {
  /** Counts no more than so many bytes from now on. */
  shrinkTo(bytes: number): void;
  /** Goes on counting it after its response is over, until the function that is returned is called. */
  keep(): Release;
}

/** Ends a request whose body has not arrived, with an error. */
type EndRequest = (req: Request, res: Response, error: ApiError) => void;

/**
 * Bounds the memory that bodies of requests take in this process, from before they are read until their responses have ended and nothing
 * keeps them. Each user has a share, and so has each address without a user. Requests beyond a share wait, and delay only that user or
 * address. Addresses take nothing from users.
 */
export class BodyBudget {
  readonly #limits: BodyBudgetLimits;
  readonly #endRequest: EndRequest;
  readonly #users: { budget: ByteBudget; slow: SlowClients };
  readonly #addresses: { budget: ByteBudget; slow: SlowClients };

  constructor(endRequest: EndRequest, limits: Partial<BodyBudgetLimits> = {}) {
    this.#endRequest = endRequest;
    this.#limits = { ...defaultLimits, ...limits };
    this.#users = this.#createShare(this.#limits.users);
    this.#addresses = this.#createShare(this.#limits.addresses);
  }

  /** What bodies hold now, in bytes. */
  get bytes(): number {
    return this.#users.budget.bytes + this.#addresses.budget.bytes;
  }

  /**
   * Waits until a body of at most `maxBytes` may be read. Returns undefined if it is small. Throws TOO_MANY_REQUESTS if the caller has too
   * much under way, SERVICE_UNAVAILABLE if all have, and the signal's reason if the client leaves.
   */
  async admit(req: Request, res: Response, maxBytes: number): Promise<HeldBody | undefined> {
    const bytes = mostBytesOf(req, maxBytes);
    if (bytes <= this.#limits.smallBytes) return undefined;
    const caller = res.locals.caller as Caller | undefined;
    const { budget, slow } = caller ? this.#users : this.#addresses;
    const owner = caller?.userId ?? clientAddressOf(res);
    const held = await budget.acquireWithin(owner, bytes, this.#limits.patienceMs, whenClientLeaves(res));
    if (!held) throw refusal(budget.isExhausted(owner, bytes));
    const body = {
      owner,
      get bytes() {
        return held.bytes;
      },
      isUpToClient: () => !req.complete || res.writableEnded,
      hangUp: () => {
        if (res.headersSent) return void res.destroy();
        this.#endRequest(req, res, tooSlow());
        release();
      },
    };
    const release = () => {
      slow.delete(body);
      held.release();
    };
    slow.add(body);
    const keep = countKeepers(release);
    const over = keep();
    if (res.closed) over();
    else res.once('close', over);
    res.locals.keepBody = keep;
    return { shrinkTo: held.shrinkTo, keep };
  }

  #createShare(limits: ByteBudgetLimits) {
    const budget = new ByteBudget(limits);
    const slow = new SlowClients({
      patienceMs: this.#limits.contendedMs,
      missingBytes: () => budget.missingBytes,
      bytesOf: (owner) => budget.bytesOf(owner),
    });
    return { budget, slow };
  }
}

/** The declared length, unless the body is compressed; otherwise the most that is read. */
function mostBytesOf({ headers }: Request, maxBytes: number): number {
  if (headers['transfer-encoding'] === undefined && headers['content-length'] === undefined) return 0;
  const declared = headers['content-encoding'] === undefined ? Number(headers['content-length']) : Number.NaN;
  return Number.isInteger(declared) ? Math.min(declared, maxBytes) : maxBytes;
}

/** Counts who keeps something: each call of the result keeps it and returns how to let it go. Calls `release` when the last one has. */
function countKeepers(release: Release): () => Release {
  let keepers = 0;
  return () => {
    keepers++;
    let isKept = true;
    return () => {
      if (!isKept) return;
      isKept = false;
      keepers--;
      if (keepers === 0) release();
    };
  };
}

function tooSlow(): ApiError {
  return new ApiError('SERVICE_UNAVAILABLE', { message: 'The body arrives too slowly while others wait: try again in a moment.' });
}

function refusal(ofCaller: boolean): ApiError {
  return ofCaller
    ? new ApiError('TOO_MANY_REQUESTS', { message: 'Too many large requests of this caller are under way.', retryAfterSeconds: 5 })
    : new ApiError('SERVICE_UNAVAILABLE', { message: 'Too many large requests are under way: try again in a moment.' });
}
