import type { RequestHandler } from 'express';
import { beginTrace } from '../../base/telemetry/spans.ts';
import { operationOf } from './observe-requests.ts';
import { organizationOf, requestIdOf } from './request.ts';

/**
 * Makes each request a span of its client's trace (`traceparent`) or of a new one. Leaves out probes, and paths, which may hold a token. A
 * client that leaves early, as each client of a stream does, is no failure; the span records it (`sheaf.aborted`).
 */
export const traceRequests: RequestHandler = (req, res, next) => {
  const isProbe = operationOf(req.originalUrl, res) === 'health';
  const span = isProbe ? undefined : beginTrace(req.method, req.get('traceparent'), { kind: 'server' });
  if (!span) return next();
  res.once('close', () => {
    const operation = operationOf(req.originalUrl, res);
    span.rename(`${req.method} ${operation}`);
    span.note({
      'http.request.method': req.method,
      'http.response.status_code': res.headersSent ? res.statusCode : undefined,
      'sheaf.aborted': res.writableFinished ? undefined : true,
      'sheaf.operation': operation,
      'sheaf.request_id': requestIdOf(res),
      'sheaf.organization_id': organizationOf(res),
    });
    if (res.headersSent && res.statusCode >= 500) span.fail({ code: String(res.statusCode) });
    else span.end();
  });
  span.run(next);
};
