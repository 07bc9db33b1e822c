import { type AnyRouter, ORPCError, os, withEventMeta } from '@orpc/server';
import { RPCHandler } from '@orpc/server/node';
import express, { type ErrorRequestHandler, type Request, type Response, type Router } from 'express';
import { z } from 'zod';
import { ApiError } from '../contract/api-error.ts';
import { errorCodes } from '../contract/errors.ts';
import type { AnyRoute } from '../contract/route.ts';
import type { ApiDeps } from './deps.ts';
import { invalidInput, renderError, toIssues } from './errors.ts';
import { jsonBody } from './json-body.ts';
import { requestIdOf, requestInfo } from './middleware/request-context.ts';
import { admit, type Procedure, run, type StreamEvent } from './procedure.ts';
import type { ProcedureTree } from './procedures/index.ts';
import { isProcedure } from './rest.ts';

interface RpcContext {
  req: Request;
  res: Response;
  /** What a procedure threw that no client may see. */
  failure?: unknown;
}

/** Mounts every procedure at `/rpc/<group>/<name>` in oRPC's protocol, so that `@orpc/client` calls it (spec §4). */
export function createRpc(deps: ApiDeps, procedures: ProcedureTree): Router {
  const router = express.Router();
  const handler = new RPCHandler(toRouter(deps, procedures), {
    rootInterceptors: [
      async ({ next, context }) => {
        const result = await next();
        if (!result.matched || context.failure === undefined) return result;
        const { status, bare } = renderError(context.failure, { requestId: requestIdOf(context.res), route: undefined, log: deps.log });
        return { matched: true, response: { ...result.response, status, body: bare } };
      },
    ],
  });
  router.post('/{*path}', jsonBody({ anyType: true }), async (req, res, next) => {
    const { matched } = await handler.handle(req, res, { prefix: '/rpc', context: { req, res } });
    if (!matched) next();
  });
  router.use(() => {
    throw new ApiError('NOT_FOUND', { message: 'There is no such procedure.' });
  });
  router.use(rpcErrors(deps));
  return router;
}

/** Renders what was thrown before a procedure ran, as the protocol wraps it. */
export function rpcErrors(deps: Pick<ApiDeps, 'log'>): ErrorRequestHandler {
  return (error, _req, res, next) => {
    if (res.headersSent) return next(error);
    const { status, headers, envelope, bare } = renderError(error, { requestId: requestIdOf(res), route: undefined, log: deps.log });
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
      try {
        const { req, res } = context;
        const caller = route.metadata.access === 'public' ? undefined : await deps.authentication.findCaller(req.headers);
        admit(route, caller);
        const parsed = inputSchema.safeParse(input ?? {});
        if (!parsed.success) throw invalidInput(toIssues(parsed.error));
        const output = await run(deps, procedure, { input: parsed.data, caller, request: requestInfo(req, res) });
        return route.metadata.stream ? toIterator(deps, context, output as AsyncIterable<StreamEvent>) : output;
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
  const { status, headers, envelope } = renderErrorOnce(deps, context, error);
  for (const [name, value] of Object.entries(headers)) context.res.setHeader(name, value);
  if (!envelope) {
    context.failure = error;
    return new ORPCError('INTERNAL_SERVER_ERROR');
  }
  return new ORPCError(envelope.code, {
    status,
    message: envelope.message,
    ...(envelope.data === undefined ? {} : { data: envelope.data }),
  });
}

/** Logging is left to the interceptor that renders an internal failure. */
function renderErrorOnce(deps: ApiDeps, context: RpcContext, error: unknown) {
  return renderError(error, { requestId: requestIdOf(context.res), route: undefined, log: deps.log });
}
