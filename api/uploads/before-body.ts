import type { Request, Response } from 'express';

const lingerMs = 5000;

/**
 * Answers `{ error, requestId }` to a request whose body is not wanted, or not to its end, and closes the connection.
 *
 * Closing while the client still sends would reset the connection, and many clients would lose the answer. So the whole answer goes
 * out first, and what still comes is thrown away until the client leaves, has sent `lingerBytes`, or five seconds are over.
 */
export function refuseUpload(req: Request, res: Response, refusal: { status: number; error: string; lingerBytes: number }): void {
  const body = errorBody(res, refusal.error);
  res.writeHead(refusal.status, { 'Content-Type': 'application/json', 'Content-Length': body.length, Connection: 'close' });
  if (req.complete) {
    res.end(body);
    return;
  }
  // Not `end`: that would close the connection.
  res.write(body);
  const timer = setTimeout(close, lingerMs);
  let discardedBytes = 0;
  req.on('data', (chunk: Buffer) => {
    discardedBytes += chunk.length;
    if (discardedBytes > refusal.lingerBytes) close();
  });
  req.once('end', close).once('close', close);

  function close(): void {
    clearTimeout(timer);
    if (!res.writableEnded) res.end();
  }
}

/** The body of the upload route's errors. */
export function errorBody(res: Response, error: string): Buffer {
  return Buffer.from(JSON.stringify({ error, requestId: res.locals.requestId ?? res.getHeader('X-Request-Id') ?? null }));
}
