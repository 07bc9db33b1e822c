import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';

/** A request that a receiver got. */
export interface Received {
  headers: IncomingHttpHeaders;
  body: string;
  event: any;
  at: number;
}

/** How a receiver answers. `slowMs` waits before, and so does `after`; `never` does not answer at all. */
interface ReceiverAnswer {
  status?: number;
  headers?: Record<string, string>;
  body?: string;
  slowMs?: number;
  after?: Promise<unknown>;
  never?: boolean;
}

/** A receiver of webhooks that behaves as a test asks. */
export interface Receiver {
  url: string;
  port: number;
  received: Received[];
  /** How many requests were open at once, at most. */
  readonly mostOpen: number;
  behave(answer: ReceiverAnswer | ((request: Received, number: number) => ReceiverAnswer)): void;
  /** Ends the server and its connections. */
  stop(): Promise<void>;
}

/** Starts a receiver on this machine, on a free port or a given one. It answers 204 until told otherwise. */
export async function startReceiver({ port = 0, host = '127.0.0.1' } = {}): Promise<Receiver> {
  let behaviour: (request: Received, number: number) => ReceiverAnswer = () => ({});
  const received: Received[] = [];
  let open = 0;
  let mostOpen = 0;
  const server = createServer((request, response) => void answer(request, response));
  await new Promise<void>((resolve) => server.listen(port, host, resolve));
  const { port: listening } = server.address() as AddressInfo;

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    mostOpen = Math.max(mostOpen, ++open);
    response.once('close', () => open--);
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const body = Buffer.concat(chunks).toString();
    const one = { headers: request.headers, body, event: JSON.parse(body), at: Date.now() };
    received.push(one);
    const { status = 204, headers = {}, body: text, slowMs = 0, after, never } = behaviour(one, received.length);
    if (never) return;
    await Promise.all([delay(slowMs), after]);
    response.writeHead(status, headers).end(text);
  }

  return {
    url: `http://${host}:${listening}/hook`,
    port: listening,
    received,
    get mostOpen() {
      return mostOpen;
    },
    behave(next) {
      behaviour = typeof next === 'function' ? next : () => next;
    },
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
