import type { z } from 'zod';
import type { Access } from './access.ts';
import { type ErrorCode, errorResponses } from './errors.ts';

/** What a route declares in addition to its schemas; both transports, the tests and the OpenAPI document read it. */
export interface RouteMetadata {
  /** `group.name`, which is the same over both transports and is the `operationId`. */
  operation: string;
  access: Access;
  /** Every code that the operation may return, including the common ones. */
  errors: readonly ErrorCode[];
  /** Accepts an `Idempotency-Key`. */
  idempotent: boolean;
  /** Returns a stream of server-sent events instead of a JSON body. */
  stream: boolean;
  /** Changes to the example of the response, which is otherwise made from the examples of its schema. */
  answerExample: object;
}

type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

interface RouteOptions<M extends Method, P, Q, B, R> {
  operation: string;
  method: M;
  path: string;
  summary: string;
  description: string;
  access: Access;
  /** Codes in addition to the common ones. */
  errors?: readonly ErrorCode[];
  idempotent?: boolean;
  stream?: boolean;
  answerExample?: object;
  pathParams?: P;
  query?: Q;
  body?: B;
  response: R;
}

/**
 * Declares one operation: its REST route, schemas, access and errors. The common errors are added: BAD_REQUEST for malformed input,
 * TOO_MANY_REQUESTS of the rate limiter, SERVICE_UNAVAILABLE if the database does not respond, and UNAUTHORIZED and FORBIDDEN if the access
 * needs a session.
 */
export function route<
  const M extends Method,
  R extends z.ZodType,
  P extends z.ZodObject | undefined = undefined,
  Q extends z.ZodObject | undefined = undefined,
  B extends z.ZodType | undefined = undefined,
>(options: RouteOptions<M, P, Q, B, R>) {
  const {
    operation,
    method,
    path,
    summary,
    description,
    access,
    idempotent = false,
    stream = false,
    answerExample = {},
    response,
  } = options;
  const common: ErrorCode[] = access === 'public' ? ['BAD_REQUEST'] : ['BAD_REQUEST', 'UNAUTHORIZED', 'FORBIDDEN'];
  const errors = [...new Set<ErrorCode>([...common, ...(options.errors ?? []), 'TOO_MANY_REQUESTS', 'SERVICE_UNAVAILABLE'])];
  return {
    method,
    path,
    summary,
    description,
    pathParams: options.pathParams as P,
    query: options.query as Q,
    body: options.body as B,
    responses: { ...(errorResponses(errors) as Record<never, never>), 200: response },
    metadata: { operation, access, errors, idempotent, stream, answerExample } satisfies RouteMetadata as RouteMetadata,
  };
}

type Output<S> = S extends z.ZodType ? z.output<S> : unknown;

export interface AnyRoute {
  method: string;
  path: string;
  summary: string;
  description: string;
  pathParams: z.ZodObject | undefined;
  query: z.ZodObject | undefined;
  body: z.ZodType | undefined;
  responses: { 200: z.ZodType };
  metadata: RouteMetadata;
}

/** A handler's input: path parameters, query and body as one object. */
export type RouteInput<R extends AnyRoute> = Output<R['pathParams']> & Output<R['query']> & Output<R['body']>;

/** What a handler returns, before validation against the contract. */
export type RouteOutput<R extends AnyRoute> = z.input<R['responses'][200]>;
