import { randomUUID } from 'node:crypto';
import type { Server } from 'node:http';
import type { Socket } from 'node:net';

/** Statuses of what Node's parser refuses, by its error codes; anything else is 400. */
const statuses: Record<string, string> = {
  HPE_HEADER_OVERFLOW: '431 Request Header Fields Too Large',
  ERR_HTTP_REQUEST_TIMEOUT: '408 Request Timeout',
};

/** Answers what Node refuses as no HTTP, before any middleware sees it, with an id and the envelope all the same (spec §5.12, §7). */
export function answerClientErrors(server: Server): void {
  server.on('clientError', (error: NodeJS.ErrnoException, socket: Socket) => {
    if (error.code === 'ECONNRESET' || !socket.writable) return void socket.destroy();
    const status = statuses[error.code ?? ''] ?? '400 Bad Request';
    const message = 'The request is not valid HTTP.';
    const body = JSON.stringify({
      defined: false,
      code: 'BAD_REQUEST',
      status: Number.parseInt(status, 10),
      message,
      data: { issues: [] },
    });
    const headers = [
      'Content-Type: application/json; charset=utf-8',
      `Content-Length: ${Buffer.byteLength(body)}`,
      "Content-Security-Policy: default-src 'none'; frame-ancestors 'none'",
      'Cache-Control: private, no-store',
      `X-Request-Id: ${randomUUID()}`,
      'Connection: close',
    ];
    socket.end(`HTTP/1.1 ${status}\r\n${headers.join('\r\n')}\r\n\r\n${body}`);
  });
}
