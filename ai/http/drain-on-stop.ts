import type { Server, ServerResponse } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';

/**
 * Watches a server, and returns what stops it: no new connections, an answer for each request that is under way, and the end of all
 * connections after `graceMs` at the latest.
 */
export function drainOnStop(server: Server): (graceMs: number) => Promise<void> {
  const underWay = new Set<ServerResponse>();
  let stopping = false;
  // A connection that is kept alive would keep the server open; the last answer on it says that it closes.
  const closeAfter = (response: ServerResponse) => {
    if (!response.headersSent) response.setHeader('Connection', 'close');
  };
  server.prependListener('request', (_request, response) => {
    underWay.add(response);
    response.once('close', () => underWay.delete(response));
    if (stopping) closeAfter(response);
  });
  return async (graceMs) => {
    stopping = true;
    const closed = new Promise<void>((resolve) => server.close(() => resolve()));
    for (const response of underWay) closeAfter(response);
    await Promise.race([closed, sleep(graceMs)]);
    server.closeAllConnections();
  };
}
