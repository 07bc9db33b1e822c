import { toNodeHandler } from '@modelcontextprotocol/node';
import { createMcpHandler } from '@modelcontextprotocol/server';
import express, { type RequestHandler, type Router } from 'express';
import { ApiError } from '../../contract/api-error.ts';
import type { Contract } from '../../contract/index.ts';
import { untrustedOrigin } from '../../contract/untrusted-origin.ts';
import { getWorkspace } from '../../domain/workspaces/workspace.ts';
import { type Caller, isKey } from '../caller.ts';
import type { ApiDeps } from '../deps.ts';
import { malformed } from '../http/errors.ts';
import { jsonBody } from '../http/json-body.ts';
import { requestIdOf, requestInfo } from '../http/request.ts';
import { limitRequests } from '../limits/limiters.ts';
import { type Procedures, run } from '../procedure.ts';
import { createAuthorization } from './authorize.ts';
import { createMcpServer } from './server.ts';
import type { ToolContext } from './tool.ts';

const path = '/mcp';

/** The MCP server at `/mcp`. It keeps nothing between two requests. */
export function mcpRoutes(deps: ApiDeps, procedures: Procedures<Contract>): Router {
  const router = express.Router({ caseSensitive: true, strict: true });
  const serve: RequestHandler = async (req, res) => {
    const context = createContext(deps, procedures, res.locals.caller as Caller, () => requestInfo(req, res));
    const options = { writes: deps.config.mcpWrites, requestId: requestIdOf(res), log: deps.log };
    const handler = createMcpHandler(() => createMcpServer(context, options), {
      onerror: (err) => deps.log.warn({ err, requestId: options.requestId }, 'a request of an MCP client was not served'),
    });
    res.once('close', () => void handler.close());
    await toNodeHandler(handler)(req, res, req.body);
  };
  const { metadata, authorized } = createAuthorization(deps, path);
  const limited = limitRequests(deps.limiters, deps.authentication);
  if (metadata) router.get(metadata.path, limited, metadata.serve);
  router.all(path, limited, knownOrigin(deps.config), authorized, jsonBody(deps.largeBodies), single, serve);
  return router;
}

/** Refuses a browser of another site, as both revisions demand. Other clients send no `Origin`. */
function knownOrigin({ trustedOrigins, apiUrl }: ApiDeps['config']): RequestHandler {
  const known = new Set([...trustedOrigins, new URL(apiUrl).origin]);
  return (req, _res, next) => {
    const origin = req.get('origin');
    if (origin !== undefined && !known.has(origin)) throw new ApiError('FORBIDDEN', { message: untrustedOrigin(origin) });
    next();
  };
}

/** Refuses a batch, which the SDK would serve: a request counts once for the key's limit. The revisions that clients speak have none. */
const single: RequestHandler = (req, _res, next) => {
  if (Array.isArray(req.body)) throw malformed(['body'], 'The body must be one message: batches are not served.');
  next();
};

/** Runs operations as the caller, within the request of its client. An operation sees no headers, since they are about the whole request. */
function createContext(
  deps: ApiDeps,
  procedures: Procedures<Contract>,
  caller: Caller,
  requestOf: () => ReturnType<typeof requestInfo>,
): ToolContext {
  return {
    caller,
    procedures,
    storage: deps.storage,
    async organizationOf(workspaceId) {
      return isKey(caller) ? caller.organizationId : (await getWorkspace(deps.db, workspaceId)).organization_id;
    },
    run(procedure, input, signal) {
      const request = { ...requestOf(), ...(signal && { signal }), idempotencyKey: undefined, lastEventId: undefined };
      return run(deps, procedure, { input, caller, request }) as never;
    },
  };
}
