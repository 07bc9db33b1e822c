import type { Logger } from 'pino';
import { callerMay } from '../auth/session.ts';
import { ApiError } from '../contract/api-error.ts';
import type { AnyRoute, RouteInput, RouteOutput } from '../contract/route.ts';
import type { Actor } from '../domain/audit.ts';
import { actorOf, type Caller } from './caller.ts';
import type { ApiDeps } from './deps.ts';
import { checkIdempotencyKey } from './idempotency.ts';

/** One request as a procedure sees it, whichever transport carried it. */
export interface RequestInfo {
  requestId: string;
  clientAddress: string;
  idempotencyKey: string | undefined;
  lastEventId: string | undefined;
  /** Aborts when the client hangs up. */
  signal: AbortSignal;
  /** Breaks the connection off. */
  hangUp(): void;
  setHeader(name: string, value: string): void;
}

/** What a handler gets. */
export interface HandlerContext<Input> {
  input: Input;
  caller: Caller;
  actor: Actor;
  request: RequestInfo;
  log: Logger;
  /**
   * Checks the route's own permission in the organization of the row that was read. Throws FORBIDDEN. A handler of a route
   * with a permission that never asks is a fault, and answers 500.
   */
  authorize(organizationId: string): Promise<void>;
}

type Handler<R extends AnyRoute> = (context: HandlerContext<RouteInput<R>>) => Promise<unknown>;

/** An operation: its route and what implements it. */
export interface Procedure {
  route: AnyRoute;
  handler: (context: HandlerContext<never>) => Promise<unknown>;
}

/** Implements one route once, for both transports. A stream's handler answers an async iterable of {@link StreamEvent}. */
export function procedure<R extends AnyRoute>(
  route: R,
  handler: (context: HandlerContext<RouteInput<R>>) => Promise<RouteOutput<R> | AsyncIterable<StreamEvent>>,
): Procedure {
  return { route, handler: handler as Handler<AnyRoute> };
}

/** One event of a stream: its resumable id, and the data to send. */
export interface StreamEvent {
  id: string;
  data: unknown;
}

/** Refuses who may not call the route at all, before its input is looked at: 401 before 400. */
export function admit(route: AnyRoute, caller: Caller | undefined): void {
  const { access } = route.metadata;
  if (access === 'public') return;
  if (!caller) throw new ApiError('UNAUTHORIZED');
  if (access === 'platform-admin' && caller.role !== 'admin') throw new ApiError('FORBIDDEN');
}

/** Runs a procedure on input that is valid, and returns output that is, each event of a stream too: nothing undeclared leaves. */
export async function run(
  deps: ApiDeps,
  { route, handler }: Procedure,
  { input, caller, request }: { input: unknown; caller: Caller | undefined; request: RequestInfo },
): Promise<unknown> {
  const { access, idempotent, stream, operation } = route.metadata;
  // A part of the input, and so checked before any row is looked for.
  if (idempotent) checkIdempotencyKey(request.idempotencyKey);
  const needsAuthorization = access !== 'public' && access !== 'signed-in' && access !== 'platform-admin';
  let authorized = !needsAuthorization;
  const output = await handler({
    input: input as never,
    caller: caller as Caller,
    actor: caller ? actorOf(caller) : { userId: null, email: null, impersonatedBy: null },
    request,
    log: deps.log.child({ requestId: request.requestId, operation }),
    async authorize(organizationId) {
      const permission = access === 'member' || access === 'signed-in' ? undefined : access;
      if (!caller || permission === 'public' || permission === 'platform-admin') throw new ApiError('FORBIDDEN');
      if (!callerMay(caller, organizationId, permission)) throw new ApiError('FORBIDDEN');
      authorized = true;
    },
  });
  if (!authorized) throw new Error(`${operation} answered without authorization`);
  return stream ? validEvents(route, output as AsyncIterable<StreamEvent>) : route.responses[200].parse(output);
}

async function* validEvents(route: AnyRoute, events: AsyncIterable<StreamEvent>): AsyncGenerator<StreamEvent> {
  for await (const { id, data } of events) yield { id, data: route.responses[200].parse(data) };
}
