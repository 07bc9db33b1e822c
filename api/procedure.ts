import { AsyncLocalStorage } from 'node:async_hooks';
import type { Logger } from 'pino';
import type { ZodSafeParseResult } from 'zod';
import type { Release } from '../base/concurrency/semaphore.ts';
import { isForWriting } from '../contract/access.ts';
import { ApiError } from '../contract/api-error.ts';
import type { AnyRoute, RouteInput, RouteOutput, Routes } from '../contract/route.ts';
import type { Db } from '../db/connect.ts';
import type { Actor } from '../domain/audit.ts';
import { refuseSuspended } from '../domain/organizations/suspension.ts';
import { refuseReadOnly } from '../domain/platform/read-only.ts';
import { type Authorize, actorOf, type Caller, checkMembership, needsMembership } from './caller.ts';
import { checkIdempotencyKey } from './idempotency.ts';
import type { OrganizationLimits } from './limits/organization-limits.ts';

/** One request as a procedure sees it, whichever transport carried it. */
export interface RequestInfo {
  requestId: string;
  clientAddress: string;
  userAgent: string | undefined;
  idempotencyKey: string | undefined;
  lastEventId: string | undefined;
  /** The client's own id of a stream. */
  streamId: string | undefined;
  /** Aborts when the client hangs up. */
  signal: AbortSignal;
  /** Closes the connection at once. */
  hangUp(): void;
  /** Records the organization in which the request was authorized, for the log. */
  noteOrganization(organizationId: string): void;
  /** Notes the id of the row that the request has made, for its line in the log. */
  noteCreated(id: string): void;
  /** Called once the response has been sent, or the connection is gone. */
  onClose(callback: () => void): void;
  setHeader(name: string, value: string): void;
}

/** The argument of a handler. */
export interface HandlerContext<Input> {
  input: Input;
  caller: Caller;
  actor: Actor;
  request: RequestInfo;
  log: Logger;
  authorize: Authorize;
}

/** An operation: its route and what implements it. */
export interface Procedure<R extends AnyRoute = AnyRoute> {
  route: R;
  handler: (context: HandlerContext<never>) => Promise<unknown>;
}

/** A procedure for each route of a part of the contract, by the same names. */
export type Procedures<T extends Routes> = {
  [K in keyof T]: T[K] extends AnyRoute ? Procedure<T[K]> : T[K] extends Routes ? Procedures<T[K]> : never;
};

/** Procedures by group and name. */
export type ProcedureTree = { [name: string]: Procedure | ProcedureTree };

export function isProcedure(node: Procedure | ProcedureTree): node is Procedure {
  return typeof node.handler === 'function';
}

/** Implements one route once, for both transports. A stream's handler returns an async iterable of {@link StreamEvent}. */
export function procedure<R extends AnyRoute>(
  route: R,
  handler: (context: HandlerContext<RouteInput<R>>) => Promise<RouteOutput<R> | AsyncIterable<StreamEvent>>,
): Procedure<R> {
  return { route, handler };
}

/** One event of a stream: its resumable id, and the data to send. */
export interface StreamEvent {
  id: string;
  data: object;
}

/** The dependencies of every procedure. */
export interface RunDeps {
  log: Logger;
  /** Counts the events of streams that were skipped because they do not fit the contract. */
  skippedEvents: { add(count: number): void };
  organizationLimits: Pick<OrganizationLimits, 'enter'>;
  db: Db;
}

/**
 * Runs a procedure on valid input. Its output is parsed with the contract, so that nothing undeclared leaves. An event of a stream that
 * does not fit is skipped (docs/rules.md, only what is declared leaves).
 */
export async function run(
  deps: RunDeps,
  { route, handler }: Procedure,
  { input, caller, request }: { input: unknown; caller: Caller | undefined; request: RequestInfo },
): Promise<unknown> {
  const { idempotent, stream, operation } = route.metadata;
  // The key is input, which is checked before any row is read.
  if (idempotent) checkIdempotencyKey(request.idempotencyKey);
  const log = deps.log.child({ operation });
  let authorized = !needsMembership(route);
  let release: Release | undefined;
  // The stream of an answer keeps its permit until it ends, since it works while it is read. A stream of jobs mostly waits.
  const isWorking = stream && permitOf(route) === 'search';
  const context: HandlerContext<never> = {
    input: input as never,
    caller: caller as Caller,
    actor: actorOf(caller),
    request,
    log,
    async authorize(organizationId, workspaceId = null) {
      checkMembership(route, caller, organizationId, workspaceId);
      authorized = true;
      request.noteOrganization(organizationId);
      if (isWrite(route)) await refuseSuspended(deps.db, organizationId);
      release ??= await deps.organizationLimits.enter(organizationId, request.signal, permitOf(route));
    },
  };
  // What only searches is refused where it is charged.
  if (route.method !== 'GET' && !searching.has(operation)) await refuseReadOnly(deps.db);
  const output = await handler(context)
    .catch((error) => Promise.reject(causeOf(error, request.signal)))
    .finally(() => (isWorking ? request.onClose(() => release?.()) : release?.()));
  if (!authorized) throw new Error(`${operation} returned without authorization`);
  if (stream) return inThisRequest(validEvents({ ...deps, log }, route, output as AsyncIterable<StreamEvent>));
  const shown = route.responses[200].parse(output);
  const created = createdId(route, input, shown);
  if (created !== undefined) request.noteCreated(created);
  return shown;
}

/** The id of the row that a request has made: that of its output, or of the document there, unless the input names it. */
function createdId({ method }: AnyRoute, input: unknown, output: unknown): string | undefined {
  if (method !== 'POST' || typeof output !== 'object' || output === null) return undefined;
  const { document, id } = output as { document?: { id?: unknown }; id?: unknown };
  const made = document?.id ?? id;
  return typeof made === 'string' && made !== (input as { id?: unknown } | undefined)?.id ? made : undefined;
}

/** The error of a request whose client has left. Nobody reads it. */
export function clientLeft(): ApiError {
  return new ApiError('SERVICE_UNAVAILABLE', { message: 'The client has left.' });
}

/** The error of a handler. Once the client leaves, waiting calls reject with the signal's reason, which becomes {@link clientLeft}. */
function causeOf(error: unknown, signal: AbortSignal): unknown {
  return signal.aborted && error === signal.reason ? clientLeft() : error;
}

/** What declares the refusal is refused here. What only reads is refused where it is charged. */
function isWrite({ metadata: { access, errors } }: AnyRoute): boolean {
  return isForWriting(access) && errors.includes('ORGANIZATION_SUSPENDED');
}

/** Operations that wait for the AI service have permits of their own and take none from other requests. */
const searching = new Set(['documents.search', 'documents.ask', 'documents.askStream']);
/** Those that mostly wait, and hold no connection meanwhile. */
const waiting = new Set([...searching, 'organizations.auditFeed']);

function permitOf({ metadata }: AnyRoute): 'request' | 'search' {
  return waiting.has(metadata.operation) ? 'search' : 'request';
}

/** Runs each step of the events in the async context of the request that opened the stream, wherever the next event is requested. */
function inThisRequest(events: AsyncGenerator<StreamEvent>): AsyncIterable<StreamEvent> {
  const within = AsyncLocalStorage.snapshot();
  const iterator: AsyncIterator<StreamEvent> = {
    next: () => within(() => events.next()),
    return: () => within(() => events.return(undefined)),
  };
  return { [Symbol.asyncIterator]: () => iterator };
}

/** The parsed data of events, so that an event for many streams is parsed once. */
const parsedEvents = new WeakMap<object, ZodSafeParseResult<unknown>>();

async function* validEvents(deps: RunDeps, route: AnyRoute, events: AsyncIterable<StreamEvent>): AsyncGenerator<StreamEvent> {
  for await (const { id, data } of events) {
    const parsed = parsedEvents.get(data) ?? route.responses[200].safeParse(data);
    parsedEvents.set(data, parsed);
    if (parsed.success) {
      yield { id, data: parsed.data as object };
    } else {
      deps.skippedEvents.add(1);
      deps.log.error({ err: parsed.error, row: (data as { id?: unknown }).id }, 'an event does not fit the contract; its stream skips it');
    }
  }
}
