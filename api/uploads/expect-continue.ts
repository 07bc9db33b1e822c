import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { maxBodyBytes } from '../../contract/errors.ts';
import { basePath, largestAuthBody } from '../auth/body-size.ts';

const waiting = new WeakSet<IncomingMessage>();

/**
 * Lets the upload route check a request's headers before the client sends its body: a client that asks with `Expect: 100-continue` is then
 * refused before it sends anything. Any other route continues at once, as Node does by default, unless its body is larger than any that is
 * accepted.
 */
export function deferContinueOfUploads(server: Server): void {
  server.on('checkContinue', (req: IncomingMessage, res: ServerResponse) => {
    if (req.method === 'PUT' && req.url?.startsWith('/uploads/')) waiting.add(req);
    else if (Number(req.headers['content-length']) > largestBody(req.url)) {
      // A refused client may leave out the body, and its next request would be read as the body.
      res.shouldKeepAlive = false;
    } else res.writeContinue();
    server.emit('request', req, res);
  });
}

/** Tells a waiting client to send its body. */
export function continueUpload(req: IncomingMessage, res: ServerResponse): void {
  if (waiting.delete(req)) res.writeContinue();
}

/** The maximum body at an address other than those of uploads. */
function largestBody(url = ''): number {
  const [path = ''] = url.split('?');
  return path.startsWith(`${basePath}/`) ? largestAuthBody(path, { hasWebhook: true }) : maxBodyBytes;
}
