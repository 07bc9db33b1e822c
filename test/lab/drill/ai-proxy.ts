import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { pipeline } from 'node:stream/promises';

/** How the proxy behaves. */
export type AiMode = 'well' | 'slow' | 'error' | 'too-large' | 'unusable';

/** A refusal in the words of the AI service; `retry-after` is in seconds. */
export interface Refusal {
  status: number;
  headers?: Record<string, string>;
  body: object;
}

/** A proxy between the worker and the AI service, which misbehaves as a fault demands. */
export interface AiProxy {
  url: string;
  mode: AiMode;
  /** Is told of each call before it is forwarded, by its path, and of its end. What it returns is answered in place of the service. */
  watch: ((path: string, ended: Promise<unknown>) => Refusal | undefined) | undefined;
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
    watch: undefined,
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
    const refusal = proxy.watch?.(incoming.url ?? '', new Promise((resolve) => outgoing.once('close', resolve)));
    if (refusal) return refuse(incoming, outgoing, refusal.status, refusal.body, refusal.headers);
    if (proxy.mode === 'error') return refuse(incoming, outgoing, 500, { error: { code: 'internal_error', message: 'drill' } });
    if (proxy.mode === 'too-large') return refuse(incoming, outgoing, 413, { error: { code: 'too_large', message: 'drill' } });
    if (proxy.mode === 'unusable') return refuse(incoming, outgoing, 200, { nothing: 'that was asked for' });
    if (proxy.mode === 'slow') await new Promise((resolve) => setTimeout(resolve, slowMs));
    await forward(incoming, outgoing, target);
  }
}

function refuse(incoming: IncomingMessage, outgoing: ServerResponse, status: number, body: object, headers = {}): void {
  incoming.resume();
  outgoing.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body));
}

async function forward(incoming: IncomingMessage, outgoing: ServerResponse, target: string): Promise<void> {
  const sent = request(`${target}${incoming.url}`, { method: incoming.method ?? 'GET', headers: incoming.headers });
  const answered = new Promise<IncomingMessage>((resolve, reject) => sent.once('response', resolve).once('error', reject));
  outgoing.once('close', () => sent.destroy());
  const [response] = await Promise.all([answered, pipeline(incoming, sent)]);
  outgoing.writeHead(response.statusCode ?? 502, response.headers);
  await pipeline(response, outgoing);
}
