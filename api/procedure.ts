import type { Logger } from 'pino';
import type { AnyRoute, RouteInput, RouteOutput } from '../contract/route.ts';
import type { Actor } from '../domain/audit.ts';
import { actorOf, type Caller, checkMembership, needsMembership } from './caller.ts';
import { checkIdempotencyKey } from './idempotency.ts';
import { parseInTurns } from './parse-in-turns.ts';

/** One request as a procedure sees it, whichever transport carried it. */
export interface RequestInfo {
  requestId: string;
  clientAddress: string;
  idempotencyKey: string | undefined;
  lastEventId: string | undefined;
  /** Aborts when the client hangs up. */
  signal: AbortSignal;
  /** Closes the connection at once. */
  hangUp(): void;
  /** Called once the response has been sent, or the connection is gone. */
  onClose(callback: () => void): void;
  /** Called once the connection holds nothing more of the response that the client has not taken. */
  onDrained(callback: () => void): void;
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
   * Checks the route's own permission in the organization of the row that was read. Throws FORBIDDEN. If a route needs
   * membership and its handler never calls this, the request fails with 500.
   */
  authorize(organizationId: string): Promise<void>;
}

type Handler<R extends AnyRoute> = (context: HandlerContext<RouteInput<R>>) => Promise<unknown>;

/** An operation: its route and what implements it. */
export interface Procedure {
  route: AnyRoute;
  handler: (context: HandlerContext<never>) => Promise<unknown>;
}

/** Procedures by group and name, in the shape of the contract. */
export type ProcedureTree = { [name: string]: Procedure | ProcedureTree };

export function isProcedure(node: Procedure | ProcedureTree): node is Procedure {
  return typeof node.handler === 'function';
}

/** Implements one route once, for both transports. A stream's handler returns an async iterable of {@link StreamEvent}. */
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

/**
 * Runs a procedure on input that is valid. Returns output that is parsed with the contract, each event of a stream too, so that
 * nothing undeclared leaves.
 */
export async function run(
  log: Logger,
  { route, handler }: Procedure,
  { input, caller, request }: { input: unknown; caller: Caller | undefined; request: RequestInfo },
): Promise<unknown> {
  const { idempotent, stream, operation } = route.metadata;
  // The key is input, which is checked before any row is read.
  if (idempotent) checkIdempotencyKey(request.idempotencyKey);
  let authorized = !needsMembership(route);
  const output = await handler({
    input: input as never,
    caller: caller as Caller,
    actor: actorOf(caller),
    request,
    log: log.child({ requestId: request.requestId, operation }),
    async authorize(organizationId) {
      checkMembership(route, caller, organizationId);
      authorized = true;
    },
  });
  if (!authorized) throw new Error(`${operation} returned without authorization`);
  return stream ? validEvents(route, output as AsyncIterable<StreamEvent>) : await parseInTurns(route.responses[200], output);
}

async function* validEvents(route: AnyRoute, events: AsyncIterable<StreamEvent>): AsyncGenerator<StreamEvent> {
  for await (const { id, data } of events) yield { id, data: route.responses[200].parse(data) };
}
