import { randomUUID } from 'node:crypto';
import type { Server } from 'node:http';
import type { Socket } from 'node:net';

/** What there is to say of a request that Node's parser refuses, by its error codes. */
const messages: Record<string, string> = { HPE_HEADER_OVERFLOW: 'The headers of the request are too large.' };

/**
 * Answers what Node refuses as no HTTP, before any middleware sees it, with an id and the envelope all the same. A request that
 * did not come to its end in time is closed: nobody is known to wait for an answer.
 */
export function answerClientErrors(server: Server): void {
  server.on('clientError', (error: NodeJS.ErrnoException, socket: Socket) => {
    const isOver = error.code === 'ECONNRESET' || error.code === 'ERR_HTTP_REQUEST_TIMEOUT';
    if (isOver || !socket.writable) return void socket.destroy();
    const message = messages[error.code ?? ''] ?? 'The request is not valid HTTP.';
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
