import { type AnyRouter, ORPCError, os, withEventMeta } from '@orpc/server';
import { RPCHandler } from '@orpc/server/node';
import express, { type ErrorRequestHandler, type Request, type RequestHandler, type Response, type Router } from 'express';
import { z } from 'zod';
import { ApiError } from '../../contract/api-error.ts';
import { errorCodes } from '../../contract/errors.ts';
import type { AnyRoute } from '../../contract/route.ts';
import { authenticate, type Caller } from '../caller.ts';
import type { ApiDeps } from '../deps.ts';
import { isProcedure, type Procedure, type ProcedureTree, run, type StreamEvent } from '../procedure.ts';
import { keepAliveMs } from '../streams/sse.ts';
import { invalidInput, malformed, type RenderedError, renderError, toIssues } from './errors.ts';
import { routeOf } from './identify-route.ts';
import { jsonBody } from './json-body.ts';
import { requestIdOf, requestInfo } from './request.ts';

interface RpcContext {
  req: Request;
  res: Response;
  /** Set once the procedure is called: errors from then on are not about the form of the request. */
  called?: boolean;
  /** Set if an error must stay hidden from the client: the response to send instead of one of the protocol. */
  failure?: RenderedError;
}

/** Mounts every procedure at `/rpc/<group>/<name>` in oRPC's protocol, so that `@orpc/client` calls it. */
export function createRpc(deps: ApiDeps, procedures: ProcedureTree): Router {
  const router = express.Router({ caseSensitive: true, strict: true });
  const handler = createHandler(deps, procedures);
  const authenticated: RequestHandler = async (req, res, next) => {
    const route = routeOf(res);
    if (!route) throw new ApiError('NOT_FOUND', { message: 'There is no such procedure.' });
    res.locals.caller = await authenticate(deps.authentication, route, req, res);
    next();
  };
  const call: RequestHandler = async (req, res, next) => {
    const { matched } = await handler.handle(req, res, { prefix: '/rpc', context: { req, res } });
    if (!matched) next();
  };
  router.post('/{*path}', authenticated, jsonBody(deps.largeBodies), call);
  router.use(() => {
    throw new ApiError('NOT_FOUND', { message: 'There is no such procedure.' });
  });
  router.use(rpcErrors(deps));
  return router;
}

/** Runs procedures by oRPC's protocol. */
function createHandler(deps: ApiDeps, procedures: ProcedureTree): RPCHandler<RpcContext> {
  return new RPCHandler<RpcContext>(toRouter(deps, procedures), {
    eventIteratorKeepAliveInterval: keepAliveMs,
    rootInterceptors: [
      async ({ next, context }) => {
        const result = await next();
        if (!result.matched || !context.failure) return result;
        const { status, bare } = context.failure;
        return { matched: true, response: { ...result.response, status, body: bare } };
      },
    ],
    interceptors: [
      async ({ next, context }) => {
        try {
          return await next();
        } catch (error) {
          // oRPC's own errors for a malformed request have no issues.
          throw context.called ? error : toRpcError(deps, context, malformed(['body'], "The body is not in the form of oRPC's protocol."));
        }
      },
    ],
  });
}

/** Renders errors from before a procedure ran, as the protocol wraps them. */
export function rpcErrors(deps: Pick<ApiDeps, 'log'>): ErrorRequestHandler {
  return (error, _req, res, next) => {
    if (res.headersSent) return next(error);
    const { status, headers, envelope, bare } = renderError(error, { requestId: requestIdOf(res), route: routeOf(res), log: deps.log });
    res
      .status(status)
      .set(headers)
      .json(envelope ? { json: envelope } : bare);
  };
}

function toRouter(deps: ApiDeps, tree: ProcedureTree): AnyRouter {
  return Object.fromEntries(
    Object.entries(tree).map(([name, node]) => [name, isProcedure(node) ? toRpc(deps, node) : toRouter(deps, node)]),
  ) as AnyRouter;
}

function toRpc(deps: ApiDeps, procedure: Procedure) {
  const { route } = procedure;
  const errors = Object.fromEntries(
    route.metadata.errors.map((code) => [code, { status: errorCodes[code].status, message: errorCodes[code].message }]),
  );
  const inputSchema = mergedInput(route);
  return os
    .$context<RpcContext>()
    .errors(errors)
    .handler(async ({ context, input }) => {
      context.called = true;
      try {
        const { req, res } = context;
        if (routeOf(res) !== route) throw new Error(`${route.metadata.operation} was reached by another path`);
        const caller = res.locals.caller as Caller | undefined;
        const parsed = inputSchema.safeParse(input ?? {});
        if (!parsed.success) throw invalidInput(toIssues(parsed.error));
        const output = await run(deps, procedure, { input: parsed.data, caller, request: requestInfo(req, res) });
        if (route.metadata.stream) return toIterator(deps, context, output as AsyncIterable<StreamEvent>);
        return output;
      } catch (error) {
        throw toRpcError(deps, context, error);
      }
    });
}

/** Path parameters, query and body as the one object that the protocol sends. */
function mergedInput(route: AnyRoute): z.ZodType {
  const shape = { ...route.query?.shape, ...route.pathParams?.shape };
  const body = route.body instanceof z.ZodOptional ? (route.body.unwrap() as z.ZodType) : route.body;
  if (body instanceof z.ZodObject) return z.object({ ...shape, ...body.shape });
  return body ? z.intersection(z.object(shape), body) : z.object(shape);
}

async function* toIterator(deps: ApiDeps, context: RpcContext, events: AsyncIterable<StreamEvent>) {
  try {
    for await (const { id, data } of events) yield withEventMeta(data as object, { id });
  } catch (error) {
    throw toRpcError(deps, context, error);
  }
}

function toRpcError(deps: ApiDeps, context: RpcContext, error: unknown): unknown {
  const rendered = renderError(error, { requestId: requestIdOf(context.res), route: routeOf(context.res), log: deps.log });
  const { status, headers, envelope } = rendered;
  if (!context.res.headersSent) context.res.set(headers);
  if (!envelope) {
    context.failure = rendered;
    return new ORPCError('INTERNAL_SERVER_ERROR');
  }
  const { code, message, data, defined } = envelope;
  return new ORPCError(code, { defined, status, message, ...(data === undefined ? {} : { data }) });
}
