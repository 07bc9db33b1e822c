import type { IncomingMessage, Server, ServerResponse } from 'node:http';

const waiting = new WeakSet<IncomingMessage>();

/**
 * Lets the upload route look at a request's headers before the client sends its body: a client that asks with
 * `Expect: 100-continue` is then refused before it sends anything. Any other route continues at once, as Node does by itself.
 */
export function deferContinueOfUploads(server: Server): void {
  server.on('checkContinue', (req: IncomingMessage, res: ServerResponse) => {
    if (req.method === 'PUT' && req.url?.startsWith('/uploads/')) waiting.add(req);
    else res.writeContinue();
    server.emit('request', req, res);
  });
}

/** Tells a client that waits to send its body. */
export function continueUpload(req: IncomingMessage, res: ServerResponse): void {
  if (waiting.delete(req)) res.writeContinue();
}
