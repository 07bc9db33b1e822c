import type { RequestHandler } from 'express';
import { beginTrace } from '../../base/telemetry/spans.ts';
import { operationOf } from './observe-requests.ts';

/** Makes each request that is a part of a caller's trace (`traceparent`) a span of it. Others begin none. */
export const traceRequests: RequestHandler = (request, response, next) => {
  const traceparent = request.get('traceparent');
  const operation = operationOf(request.path);
  const attributes = { 'http.request.method': request.method, 'sheaf.operation': operation };
  const span = traceparent ? beginTrace(`${request.method} ${operation}`, traceparent, { kind: 'server', attributes }) : undefined;
  if (!span) return next();
  response.once('close', () => {
    const { requestId, errorCode } = response.locals;
    span.note({ 'http.response.status_code': response.statusCode, 'sheaf.request_id': requestId, 'sheaf.error_code': errorCode });
    if (!response.writableFinished) span.fail('aborted');
    else if (response.statusCode >= 500) span.fail({ code: String(response.statusCode) });
    else span.end();
  });
  span.run(next);
};
