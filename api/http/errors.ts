import { randomUUID } from 'node:crypto';
import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import type { Logger } from 'pino';
import type { ZodError } from 'zod';
import { StorageUnavailable } from '../../adapters/storage/port.ts';
import { ApiError } from '../../contract/api-error.ts';
import type { ErrorEnvelope, Issue } from '../../contract/errors.ts';
import type { AnyRoute } from '../../contract/route.ts';
import { isUnavailable } from '../../db/unavailable.ts';
import { messageOf, notAnObject } from './issue-message.ts';

/** An error as a transport sends it: the error envelope, or another body for the few errors without an envelope. */
export interface RenderedError {
  status: number;
  headers: Record<string, string>;
  envelope?: ErrorEnvelope;
  bare?: { error: string; requestId: string };
}

/** The seconds after which a client may retry, if the error names no time. */
const defaultRetrySeconds = 2;

/** Renders anything thrown for the client. The cause of an internal error goes only to the log, under the request's id. */
export function renderError(error: unknown, context: { requestId: string; route: AnyRoute | undefined; log: Logger }): RenderedError {
  const apiError = toApiError(error);
  if (apiError) {
    const { code, status, message, data } = apiError;
    const retryAfterSeconds = apiError.retryAfterSeconds ?? (code === 'SERVICE_UNAVAILABLE' ? defaultRetrySeconds : undefined);
    if (apiError.cause) context.log.warn({ err: apiError.cause, requestId: context.requestId }, 'a request was not served');
    const declared: readonly string[] = context.route?.metadata.errors ?? [];
    const headers: Record<string, string> = retryAfterSeconds === undefined ? {} : { 'retry-after': String(retryAfterSeconds) };
    const envelope: ErrorEnvelope = { defined: declared.includes(code), code, status, message };
    return { status, headers, envelope: data === undefined ? envelope : { ...envelope, data } };
  }
  if (typeOf(error) === 'entity.too.large') return bare(413, 'payload_too_large', context.requestId);
  context.log.error({ err: error, requestId: context.requestId }, 'internal error');
  return bare(500, 'internal_error', context.requestId);
}

/** Turns zod's issues into those of a BAD_REQUEST. */
export function toIssues(error: ZodError): Issue[] {
  return error.issues.flatMap((issue) => {
    const params = 'params' in issue ? (issue.params as Issue['params']) : undefined;
    const path = issue.path.map((key) => (typeof key === 'number' ? key : String(key)));
    return [{ path, message: messageOf(issue), ...(params?.reason ? { params: { reason: params.reason } } : {}) }];
  });
}

/** BAD_REQUEST with its issues, the first of which is the message. */
export function invalidInput(issues: Issue[]): ApiError {
  const first = issues[0];
  const where = first && first.path.length > 0 ? `${first.path.join('.')}: ` : '';
  return new ApiError('BAD_REQUEST', { message: first ? `${where}${first.message}` : 'The request is not valid.', data: { issues } });
}

/** BAD_REQUEST for a malformed request, before any schema checks it. */
export function malformed(path: string[], message: string): ApiError {
  return new ApiError('BAD_REQUEST', { message, data: { issues: [{ path, message }] } });
}

/** BAD_REQUEST for a body in another encoding. */
export function notInUtf8(): ApiError {
  return malformed(['body'], 'The body must be JSON in UTF-8.');
}

/** The body is too large. It has the `type` that body-parser gives to such errors. */
export class BodyTooLarge extends Error {
  readonly type = 'entity.too.large';
}

function toApiError(error: unknown): ApiError | undefined {
  if (error instanceof ApiError) return error;
  if (isUnavailable(error) || error instanceof StorageUnavailable) return new ApiError('SERVICE_UNAVAILABLE', { cause: error });
  const type = typeOf(error);
  if (type === 'entity.parse.failed')
    return isJson(error) ? malformed([], notAnObject) : malformed(['body'], 'The body is not valid JSON.');
  if (type === 'request.size.invalid' || type === 'request.aborted')
    return malformed(['body'], 'The body is not as long as its Content-Length says.');
  if (type === 'encoding.unsupported') return malformed(['Content-Encoding'], (error as Error).message);
  if (type === 'charset.unsupported') return notInUtf8();
  if (isBodyParserError(error)) return malformed(['body'], 'The body cannot be read.');
  if (error instanceof URIError) return malformed(['path'], 'The path has a broken percent-encoding.');
  return undefined;
}

/** Whether a body that body-parser refused is JSON after all: it takes only objects and arrays. */
function isJson(error: unknown): boolean {
  const { body } = error as { body?: unknown };
  try {
    return typeof body === 'string' && JSON.parse(body) !== undefined;
  } catch {
    return false;
  }
}

/** Whether it is any other client error of body-parser, such as a body that does not match its Content-Encoding. */
function isBodyParserError(error: unknown): boolean {
  return error instanceof Error && 'expose' in error && error.expose === true && 'status' in error && error.status === 400;
}

/** The `type` by which body-parser names its errors. */
function typeOf(error: unknown): string | undefined {
  return typeof error === 'object' && error !== null && 'type' in error ? String(error.type) : undefined;
}

function bare(status: number, error: string, requestId: string): RenderedError {
  return { status, headers: {}, bare: { error, requestId } };
}

/** Messages for errors of Node's HTTP parser, by code. */
const parserMessages: Record<string, string> = { HPE_HEADER_OVERFLOW: 'The headers of the request are too large.' };

/**
 * Responds with an id and the error envelope to requests that Node's parser refuses before any middleware. The connection of a request that
 * did not arrive in time is closed without a response, because its client may not wait for one.
 */
export function refuseClientErrors(server: Server): void {
  server.on('clientError', (error: NodeJS.ErrnoException, socket: Socket) => {
    const isOver = error.code === 'ECONNRESET' || error.code === 'ERR_HTTP_REQUEST_TIMEOUT';
    if (isOver || !socket.writable) return void socket.destroy();
    const message = parserMessages[error.code ?? ''] ?? 'The request is not valid HTTP.';
    const body = JSON.stringify({ defined: false, code: 'BAD_REQUEST', status: 400, message, data: { issues: [] } });
    const headers = [
      'Content-Type: application/json; charset=utf-8',
      `Content-Length: ${Buffer.byteLength(body)}`,
      "Content-Security-Policy: default-src 'none'; frame-ancestors 'none'",
      'Cache-Control: private, no-store',
      `X-Request-Id: ${randomUUID()}`,
      'Connection: close',
    ];
    socket.end(`HTTP/1.1 400 Bad Request\r\n${headers.join('\r\n')}\r\n\r\n${body}`);
  });
}
