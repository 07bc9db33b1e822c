import { Readable } from 'node:stream';
import { createExpressEndpoints, type RequestValidationError } from '@ts-rest/express';
import express, { type ErrorRequestHandler, type Request, type RequestHandler, type Response, type Router } from 'express';
import type { ZodError } from 'zod';
import { type Contract, contract } from '../../contract/index.ts';
import type { AnyRoute, Routes } from '../../contract/route.ts';
import { authenticate, type Caller } from '../caller.ts';
import type { ApiDeps } from '../deps.ts';
import { isProcedure, type Procedure, type Procedures, type ProcedureTree, run, type StreamEvent } from '../procedure.ts';
import { eventStreamType, toEventStream } from '../streams/sse.ts';
import { invalidInput, malformed, renderError, toIssues } from './errors.ts';
import { routeOf } from './identify-route.ts';
import { jsonBody } from './json-body.ts';
import { requestIdOf, requestInfo } from './request.ts';

const linesType = 'application/x-ndjson';

/** Mounts every procedure at its REST route, through ts-rest's Express endpoints. */
export function createRest(deps: ApiDeps, procedures: Procedures<Contract>): Router {
  const router = express.Router({ caseSensitive: true, strict: true });
  const authenticated: RequestHandler = async (req, res, next) => {
    const { tsRestRoute: route } = req as { tsRestRoute?: AnyRoute };
    if (!route) throw new Error('a REST handler runs outside its route');
    res.locals.caller = await authenticate(deps.authentication, route, req, res);
    next();
  };
  createExpressEndpoints(contract, implement(deps, procedures), router, {
    logInitialization: false,
    jsonQuery: false,
    // `run` validates each response once, for both transports.
    responseValidation: false,
    globalMiddleware: [authenticated, wellFormedQuery, jsonBody(deps.largeBodies)],
    requestValidationErrorHandler: (error) => {
      throw invalidRequest(error);
    },
  });
  router.use(restErrors(deps));
  return router;
}

/** Refuses a query that is not UTF-8: the parser would replace bytes that it does not understand by other characters. */
const wellFormedQuery: RequestHandler = (req, _res, next) => {
  const [, query = ''] = req.originalUrl.split(/\?(.*)/s);
  try {
    decodeURIComponent(query);
  } catch {
    throw malformed(['query'], 'The query has a broken percent-encoding.');
  }
  next();
};

/** Renders errors for REST: the bare envelope. */
export function restErrors(deps: Pick<ApiDeps, 'log'>): ErrorRequestHandler {
  return (error, _req, res, next) => {
    if (res.headersSent) return next(error);
    const rendered = renderError(error, { requestId: requestIdOf(res), route: routeOf(res), log: deps.log });
    res
      .status(rendered.status)
      .set(rendered.headers)
      .json(rendered.envelope ?? rendered.bare);
  };
}

/** The handlers that ts-rest mounts, one for each route. {@link Procedures} checks which procedure implements which route. */
function implement<T extends Routes>(deps: ApiDeps, procedures: Procedures<T>): RouterImplementation<T> {
  return toHandlers(deps, procedures) as RouterImplementation<T>;
}

type RouterImplementation<T extends Routes> = Parameters<typeof createExpressEndpoints<T>>[1];
type RestHandler = (args: { params?: object; query?: object; body?: object; req: Request; res: Response }) => Promise<unknown>;
type HandlerTree = { [name: string]: RestHandler | HandlerTree };

function toHandlers(deps: ApiDeps, tree: ProcedureTree): HandlerTree {
  return Object.fromEntries(
    Object.entries(tree).map(([name, node]) => [name, isProcedure(node) ? toHandler(deps, node) : toHandlers(deps, node)]),
  );
}

function toHandler(deps: ApiDeps, procedure: Procedure): RestHandler {
  return async ({ params, query, body, req, res }) => {
    const { route } = procedure;
    const input = { ...(route.query ? query : {}), ...(route.body ? body : {}), ...(route.pathParams ? params : {}) };
    const output = await run(deps, procedure, {
      input,
      caller: res.locals.caller as Caller | undefined,
      request: requestInfo(req, res),
    });
    if (!route.metadata.stream) return { status: 200, body: inLines(route, output, req, res) ?? output };
    // HEAD sends the headers of a stream and opens none.
    if (req.method === 'HEAD') return { status: 200, body: res.type(eventStreamType) && Readable.from([]) };
    return { status: 200, body: toEventStream(deps.log, route, res, output as AsyncIterable<StreamEvent>) };
  };
}

/** The list of a response as JSON, an item a line, if the route has one and the client prefers that; otherwise undefined. */
function inLines({ metadata: { lines } }: AnyRoute, output: unknown, req: Request, res: Response): Readable | undefined {
  if (lines === undefined || req.accepts(['json', linesType]) !== linesType) return undefined;
  res.type(linesType);
  const items = (output as Record<string, unknown[]>)[lines] ?? [];
  return Readable.from([Buffer.from(items.map((item) => `${JSON.stringify(item)}\n`).join(''))]);
}

function invalidRequest({ pathParams, query, body }: RequestValidationError) {
  const errors = [pathParams, query, body].filter((error) => error !== null) as unknown as ZodError[];
  return invalidInput(errors.flatMap(toIssues));
}
