import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { isIP } from 'node:net';
import type { Request, RequestHandler, Response } from 'express';
import { whenClientLeaves } from '../../base/concurrency/when-client-leaves.ts';
import { addLogFields, withLogFields } from '../../base/telemetry/log-context.ts';
import { networkOf } from '../auth/client-network.ts';
import type { RequestInfo } from '../procedure.ts';

const wellFormedId = /^[A-Za-z0-9._-]{1,128}$/;

/**
 * Gives each request its id, the client's own if it is well-formed, and the address that it came from. Every log line of the request has
 * its id.
 */
export function requestContext(trustProxy: boolean): RequestHandler {
  return (req, res, next) => {
    const requestId = ownId(req, 'x-request-id') ?? randomUUID();
    res.locals.requestId = requestId;
    res.locals.clientAddress = readClientAddress(req, trustProxy);
    res.setHeader('X-Request-Id', requestId);
    withLogFields({ requestId }, next);
  };
}

/** The id that the client chose; undefined if it is missing or not well-formed. */
function ownId(req: Request, header: string): string | undefined {
  const given = req.get(header);
  return given !== undefined && wellFormedId.test(given) ? given : undefined;
}

export function requestIdOf(res: Response): string {
  return String(res.locals.requestId);
}

/** Records the organization in which the request was authorized, for the log. */
export function noteOrganization(res: Response, organizationId: string): void {
  res.locals.organizationId = organizationId;
  addLogFields({ organizationId });
}

/** The organization that the request was authorized in; undefined if it was in none. */
export function organizationOf(res: Response): string | undefined {
  return res.locals.organizationId as string | undefined;
}

/** The id of the row that the request has made; undefined if it has made none. */
export function createdIdOf(res: Response): string | undefined {
  return res.locals.createdId as string | undefined;
}

export function clientAddressOf(res: Response): string {
  return String(res.locals.clientAddress);
}

/**
 * The address by which limits count the client: see {@link networkOf}. Behind a trusted proxy it is the only address in `X-Forwarded-For`.
 * It may have a port, which some proxies add. A header with several addresses is ignored, because the client may have written some of them.
 */
function readClientAddress(req: IncomingMessage, trustProxy: boolean): string {
  const forwarded = trustProxy ? addressIn(String(req.headers['x-forwarded-for'] ?? '').trim()) : undefined;
  if (forwarded !== undefined) return networkOf(forwarded);
  return networkOf(req.socket.remoteAddress ?? 'unknown');
}

/** The one IP address in a text, which may be followed by a port: `ip`, `ip:port`, `[v6]` or `[v6]:port`. */
function addressIn(text: string): string | undefined {
  const [, v6, v4] = /^\[([^\]]+)\](?::\d{1,5})?$|^([\d.]+):\d{1,5}$/.exec(text) ?? [];
  const address = v6 ?? v4 ?? text;
  return isIP(address) ? address : undefined;
}

/** The request as procedures see it. */
export function requestInfo(req: Request, res: Response): RequestInfo {
  return {
    requestId: requestIdOf(res),
    clientAddress: clientAddressOf(res),
    userAgent: req.get('user-agent'),
    idempotencyKey: req.get('idempotency-key'),
    // A client that has seen no event may send an empty one.
    lastEventId: req.get('last-event-id') || undefined,
    streamId: ownId(req, 'stream-id'),
    signal: whenClientLeaves(res),
    hangUp: () => res.destroy(),
    noteOrganization: (organizationId) => noteOrganization(res, organizationId),
    noteCreated: (id) => {
      res.locals.createdId = id;
    },
    onClose: (callback) => void (res.closed ? callback() : res.once('close', callback)),
    setHeader: (name, value) => res.setHeader(name, value),
  };
}
