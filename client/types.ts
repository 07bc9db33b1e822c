import type { z } from 'zod';
import type { Contract } from '../contract/index.ts';
import type { AnyRoute } from '../contract/route.ts';

/** What a single call may be told beside its input. */
export interface CallOptions {
  /** Ends the call, its retries and its waits; it then rejects with the signal's reason. */
  signal?: AbortSignal | undefined;
  /** How long one try may take, in milliseconds, instead of the client's own limit. */
  timeoutMs?: number | undefined;
  /** The key of operations that take one. Without it the client makes one up for each call; give your own to survive a restart of your program. */
  idempotencyKey?: string | undefined;
}

// An empty object, whose keys count as any string, asks for nothing.
type Fields<S> = S extends z.ZodType ? (string extends keyof NonNullable<z.input<S>> ? unknown : NonNullable<z.input<S>>) : unknown;

/** What a route takes, as one object: path parameters, query and body, before their defaults. */
export type InputOf<R extends AnyRoute> = Fields<R['pathParams']> & Fields<R['query']> & Fields<R['body']>;

/** What a route answers. */
export type OutputOf<R extends AnyRoute> = z.output<R['responses'][200]>;

/** A route as a function. It rejects with a `SheafError`, or with the reason of the signal that ended it. */
export type Procedure<R extends AnyRoute> =
  unknown extends InputOf<R>
    ? (input?: Record<string, never>, options?: CallOptions) => Promise<OutputOf<R>>
    : Record<never, never> extends InputOf<R>
      ? (input?: InputOf<R>, options?: CallOptions) => Promise<OutputOf<R>>
      : (input: InputOf<R>, options?: CallOptions) => Promise<OutputOf<R>>;

/** The routes below a place in the contract, as functions. */
export type Procedures<T> = { [K in keyof T]: T[K] extends AnyRoute ? Procedure<T[K]> : Procedures<T[K]> };

export type Document = OutputOf<Contract['documents']['get']>;
export type ContentType = Document['contentType'];
export type Job = OutputOf<Contract['jobs']['get']>;
/** A job in the stream: `input` and `result` are there once it is finished. */
export type JobEvent = OutputOf<Contract['jobs']['stream']>;
export type Workspace = OutputOf<Contract['workspaces']['list']>[number];
export type SearchResults = OutputOf<Contract['documents']['search']>;
