import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { pipeline } from 'node:stream';

/** A proxy on this machine which adds a bearer token to every request, for programs that send none. */
export interface BearerProxy {
  url: string;
  /** Where requests go, and with which token. A server that must know the proxy's address starts after it. */
  forwardTo(target: { url: string; token: string }): void;
  stop(): Promise<void>;
}

/** Starts a proxy. All else passes as it is: bodies, headers, `Host` too. */
export async function startBearerProxy(): Promise<BearerProxy> {
  let target: { url: string; token: string };
  const server = createServer((req, res) => {
    const headers = { ...req.headers, authorization: `Bearer ${target.token}` };
    const forwarded = request(new URL(req.url ?? '/', target.url), { method: req.method, headers }, (answer) => {
      res.writeHead(answer.statusCode ?? 502, answer.headers).flushHeaders();
      pipeline(answer, res, () => {});
    });
    pipeline(req, forwarded, (error) => error && res.destroy());
    res.on('close', () => forwarded.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    forwardTo(given) {
      target = given;
    },
    async stop() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
