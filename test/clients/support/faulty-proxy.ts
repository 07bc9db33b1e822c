import { createServer, type IncomingHttpHeaders, type IncomingMessage, request, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A request that came by. */
interface Passed {
  method: string;
  path: string;
  headers: IncomingHttpHeaders;
}

/**
 * What goes wrong with a request: it never reaches the service; it is not even read, on a connection that stays open; the service answers
 * and nobody hears it; the connection breaks after so
 * many bytes were sent up or, with `cutAfter`, once the event with this text in it came down; nothing comes
 * down any more, on a connection that stays open, with `unseen` also to the service after the client has left it; or another answer
 * stands in for the service's.
 */
export type Fault =
  | 'lose-request'
  | 'hold'
  | 'lose-answer'
  | 'mute'
  | 'unseen'
  | { breakAfterBytes: number }
  | { cutAfter: string }
  | { status: number; headers: Record<string, string>; body?: string };

/** What S3 says, with this status, of a client that sends too slowly. */
export const tooSlow: Fault = {
  status: 400,
  headers: { 'content-type': 'application/xml' },
  body: '<?xml version="1.0" encoding="UTF-8"?>\n<Error><Code>RequestTimeout</Code><Message>Idle connections will be closed.</Message></Error>',
};

export interface FaultyProxy {
  url: string;
  /** Every request, in its order. */
  readonly passed: Passed[];
  /** Called for every request; undefined lets it through. */
  faults: (request: Passed) => Fault | undefined;
  /** Breaks every connection that is open. */
  cut(): void;
  close(): Promise<void>;
}

/** Stands before a service, and breaks what a test says. */
export async function startFaultyProxy(target: string): Promise<FaultyProxy> {
  const server = createServer((incoming, outgoing) => {
    const passed = { method: incoming.method ?? '', path: incoming.url ?? '', headers: incoming.headers };
    proxy.passed.push(passed);
    forward(target, incoming, outgoing, proxy.faults(passed));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const proxy: FaultyProxy = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    passed: [],
    faults: () => undefined,
    cut: () => server.closeAllConnections(),
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  return proxy;
}

function forward(target: string, incoming: IncomingMessage, outgoing: ServerResponse, fault: Fault | undefined): void {
  if (fault === 'lose-request') return void incoming.destroy();
  if (fault === 'hold') return;
  if (typeof fault === 'object' && 'status' in fault) return void outgoing.writeHead(fault.status, fault.headers).end(fault.body);
  const { method, headers } = incoming;
  const onward = request(`${target}${incoming.url}`, { method, headers: { ...headers, host: new URL(target).host } }, (answer) => {
    if (fault === 'lose-answer') {
      answer.resume().on('end', () => outgoing.destroy());
      return;
    }
    outgoing.writeHead(answer.statusCode ?? 500, answer.headers);
    outgoing.flushHeaders();
    if (fault === 'mute' || fault === 'unseen') return void answer.resume();
    answer.on('data', (chunk: Buffer) => {
      const at = typeof fault === 'object' && 'cutAfter' in fault ? chunk.indexOf(fault.cutAfter) : -1;
      if (at === -1) return void outgoing.write(chunk);
      answer.pause();
      const end = chunk.indexOf('\n\n', at);
      outgoing.write(end === -1 ? chunk : chunk.subarray(0, end + 2), () => outgoing.destroy());
    });
    answer.on('end', () => outgoing.end());
  });
  onward.on('error', () => outgoing.destroy());
  if (fault !== 'unseen') outgoing.on('close', () => onward.destroy());
  if (typeof fault === 'object' && 'breakAfterBytes' in fault) {
    let bytes = 0;
    incoming.on('data', (chunk: Buffer) => {
      bytes += chunk.length;
      if (bytes >= fault.breakAfterBytes) incoming.destroy();
    });
  }
  incoming.pipe(onward);
}
