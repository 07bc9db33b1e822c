import type { Response } from 'express';
import { errorBody, type ObjectRequest } from './object-request.ts';

const lingerMs = 5000;

interface Refusal {
  status: number;
  error: string;
  retryAfterSeconds?: number | undefined;
  lingerBytes: number;
}

/**
 * Sends `{ error, requestId }` before the whole body was read, and closes the connection. Closing it while the client still sends would
 * lose the response for many clients. So the response goes out first, and what still arrives is discarded until the client leaves, has sent
 * `lingerBytes`, or five seconds have passed.
 */
export function refuseUpload(req: ObjectRequest, res: Response, refusal: Refusal): void {
  const body = errorBody(res, refusal.error);
  if (refusal.retryAfterSeconds !== undefined) res.setHeader('Retry-After', refusal.retryAfterSeconds);
  res.writeHead(refusal.status, { 'Content-Type': 'application/json', 'Content-Length': body.length, Connection: 'close' });
  if (req.complete) {
    res.end(body);
    return;
  }
  // Not `end`, which would close the connection.
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
