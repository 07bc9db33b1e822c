import type { RequestHandler } from 'express';
import { beginTrace } from '../../telemetry/spans.ts';
import { operationOf } from './observe-requests.ts';
import { organizationOf, requestIdOf } from './request.ts';

/**
 * Makes each request a span, of the trace that its client names (`traceparent`) or of a new one. Probes are left out, and paths: they may hold a
 * token. That a client leaves before the end, as each does that follows a stream, is no failure; the span says so (`sheaf.aborted`).
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
