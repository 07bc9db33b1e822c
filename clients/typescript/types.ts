import type { ClientInferRequest, ClientInferResponseBody } from '@ts-rest/core';
import type { Contract } from '../../contract/index.ts';
import type { AnyRoute, JoinedInput } from '../../contract/route.ts';

/** Options of a single call. */
export interface CallOptions {
  /** Aborts the call with its retries and waits; it then rejects with the signal's reason. */
  signal?: AbortSignal | undefined;
  /** How long one try may take, in milliseconds, instead of the client's own limit. */
  timeoutMs?: number | undefined;
  /**
   * For operations that accept an idempotency key. By default the client makes one for each call; pass your own to survive a restart of
   * your program.
   */
  idempotencyKey?: string | undefined;
}

/** The input of a route as one object: path parameters, query and body, before their defaults. */
export type InputOf<R extends AnyRoute> = JoinedInput<ClientInferRequest<R>>;

/** The output of a route. */
export type OutputOf<R extends AnyRoute> = ClientInferResponseBody<R, 200>;

/**
 * A route as a function. It rejects with a `SheafError`, with the reason of the signal that aborted it, or with another error if the
 * input cannot be sent.
 */
export type Procedure<R extends AnyRoute> =
  unknown extends InputOf<R>
    ? (input?: Record<string, never>, options?: CallOptions) => Promise<OutputOf<R>>
    : Record<never, never> extends InputOf<R>
      ? (input?: InputOf<R>, options?: CallOptions) => Promise<OutputOf<R>>
      : (input: InputOf<R>, options?: CallOptions) => Promise<OutputOf<R>>;

/** The routes of a part of the contract, as functions. */
export type Procedures<T> = { [K in keyof T]: T[K] extends AnyRoute ? Procedure<T[K]> : Procedures<T[K]> };

export type Document = OutputOf<Contract['documents']['get']>;
export type ContentType = Document['contentType'];
export type Charset = NonNullable<Document['charset']>;
export type Job = OutputOf<Contract['jobs']['get']>;
/** A job in the stream: `input` and `result` are present once it is final. */
export type JobEvent = OutputOf<Contract['jobs']['stream']>;
export type Workspace = OutputOf<Contract['workspaces']['list']>[number];
export type SearchResults = OutputOf<Contract['documents']['search']>;
export type Answer = OutputOf<Contract['documents']['ask']>;
/** A sentence of an answer, or its end. */
export type AnswerEvent = OutputOf<Contract['documents']['askStream']>;
