import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { pipeline } from 'node:stream/promises';

/** How the proxy behaves. */
export type AiMode = 'well' | 'slow' | 'error' | 'too-large' | 'unusable';

/** A proxy between the worker and the AI service, which misbehaves as a fault demands. */
export interface AiProxy {
  url: string;
  mode: AiMode;
  forwardTo(url: string): void;
  stop(): void;
}

/** Longer than the timeout of an attempt. */
const slowMs = 8_000;

/** Starts a proxy on a free port of the loopback interface. */
export async function startAiProxy(): Promise<AiProxy> {
  let target = '';
  const server = createServer((incoming, outgoing) => {
    incoming.on('error', () => outgoing.destroy());
    void respond(incoming, outgoing).catch(() => outgoing.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const proxy: AiProxy = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    mode: 'well',
    forwardTo: (url) => {
      target = url;
    },
    stop: () => {
      server.close();
      server.closeAllConnections();
    },
  };
  return proxy;

  async function respond(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
    if (proxy.mode === 'error') return refuse(incoming, outgoing, 500, { error: { code: 'internal_error', message: 'drill' } });
    if (proxy.mode === 'too-large') return refuse(incoming, outgoing, 413, { error: { code: 'too_large', message: 'drill' } });
    if (proxy.mode === 'unusable') return refuse(incoming, outgoing, 200, { nothing: 'that was asked for' });
    if (proxy.mode === 'slow') await new Promise((resolve) => setTimeout(resolve, slowMs));
    await forward(incoming, outgoing, target);
  }
}

function refuse(incoming: IncomingMessage, outgoing: ServerResponse, status: number, body: object): void {
  incoming.resume();
  outgoing.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}

async function forward(incoming: IncomingMessage, outgoing: ServerResponse, target: string): Promise<void> {
  const sent = request(`${target}${incoming.url}`, { method: incoming.method ?? 'GET', headers: incoming.headers });
  const answered = new Promise<IncomingMessage>((resolve, reject) => sent.once('response', resolve).once('error', reject));
  outgoing.once('close', () => sent.destroy());
  const [response] = await Promise.all([answered, pipeline(incoming, sent)]);
  outgoing.writeHead(response.statusCode ?? 502, response.headers);
  await pipeline(response, outgoing);
}
