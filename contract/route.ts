import { type AppRoute, initContract, type ServerInferRequest, type ServerInferResponseBody } from '@ts-rest/core';
import type { z } from 'zod';
import { type Access, isForWriting, type Permission } from './access.ts';
import { type ErrorCode, type ErrorResponses, errorResponses } from './errors.ts';

/** ts-rest's builder, which every part of the contract is made with (docs/ts-rest.md). */
export const c: ReturnType<typeof initContract> = initContract();

/** The declarations of a route besides its schemas, for both transports, the tests and the OpenAPI document. */
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
  /** The list of the response that is sent alone, an item a line, to who accepts only that (`application/x-ndjson`). */
  lines: string | undefined;
  /** Changes to the example of the response, which is otherwise made from the examples of its schema. */
  answerExample: object;
}

type CommonCode<A extends Access> =
  | 'BAD_REQUEST'
  | 'TOO_MANY_REQUESTS'
  | 'SERVICE_UNAVAILABLE'
  | (A extends 'public' ? never : 'UNAUTHORIZED' | 'FORBIDDEN')
  | (A extends `${string}:read` ? never : A extends Permission ? 'ORGANIZATION_SUSPENDED' : never);

interface OperationOptions<A extends Access, E extends ErrorCode, R extends z.ZodType> {
  access: A;
  /** Codes in addition to the common ones. */
  errors?: readonly E[];
  idempotent?: boolean;
  stream?: boolean;
  lines?: string;
  /** Given also while the organization is suspended, though its permission is one to write. */
  evenSuspended?: boolean;
  answerExample?: object;
  /** The body of the response, or the data of each event of a stream. */
  response: R;
}

/**
 * The `responses` and the `metadata` of a ts-rest route. The common errors are added: BAD_REQUEST for malformed input, TOO_MANY_REQUESTS of
 * the rate limiter, SERVICE_UNAVAILABLE if the database does not respond, UNAUTHORIZED and FORBIDDEN if the access needs a session,
 * and ORGANIZATION_SUSPENDED if it is a permission to write.
 */
export function operation<const A extends Access, R extends z.ZodType, const E extends ErrorCode = never>(
  name: string,
  {
    access,
    errors = [],
    idempotent = false,
    stream = false,
    lines,
    evenSuspended = false,
    answerExample = {},
    response,
  }: OperationOptions<A, E, R>,
) {
  const common: ErrorCode[] = access === 'public' ? ['BAD_REQUEST'] : ['BAD_REQUEST', 'UNAUTHORIZED', 'FORBIDDEN'];
  const ofWrites: ErrorCode[] = isForWriting(access) && !evenSuspended ? ['ORGANIZATION_SUSPENDED'] : [];
  const codes = [...new Set<ErrorCode>([...common, ...ofWrites, ...errors, 'TOO_MANY_REQUESTS', 'SERVICE_UNAVAILABLE'])];
  const metadata: RouteMetadata = { operation: name, access, errors: codes, idempotent, stream, lines, answerExample };
  return { responses: { ...(errorResponses(codes) as ErrorResponses<CommonCode<A> | E>), 200: response }, metadata };
}

/** A route of this contract: one of ts-rest's, with zod schemas and the metadata of {@link operation}. */
export type AnyRoute = AppRoute & {
  summary: string;
  description: string;
  pathParams?: z.ZodObject;
  query?: z.ZodObject;
  body?: z.ZodType;
  responses: { 200: z.ZodType };
  metadata: RouteMetadata;
};

/** The routes of a part of the contract. */
export type Routes = { [name: string]: AnyRoute | Routes };

// An empty object, whose keys are any string, has no fields.
type Fields<T> = string extends keyof NonNullable<T> ? unknown : NonNullable<T>;
type Part<T, K extends string> = K extends keyof T ? Fields<T[K]> : unknown;

/** Path parameters, query and body of a request, as ts-rest infers them, in one object. */
export type JoinedInput<T> = Part<T, 'params'> & Part<T, 'query'> & Part<T, 'body'>;

/** A handler's input. */
export type RouteInput<R extends AnyRoute> = JoinedInput<ServerInferRequest<R>>;

/** The type that a handler returns, before validation against the contract. */
export type RouteOutput<R extends AnyRoute> = ServerInferResponseBody<R, 200>;
