import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

interface CuttingProxy {
  url: string;
  /** The `Last-Event-Id` of each job stream that was asked for. */
  readonly lastEventIds: (string | undefined)[];
  close(): Promise<void>;
}

/** Stands before a service, and cuts each of its first job streams off after its first event. */
export async function startCuttingProxy(target: string, cuts: number): Promise<CuttingProxy> {
  const lastEventIds: (string | undefined)[] = [];
  const server = createServer((incoming, outgoing) => {
    const isStream = incoming.url?.endsWith('/jobs/stream') ?? false;
    if (isStream) lastEventIds.push(incoming.headers['last-event-id'] as string | undefined);
    forward(target, incoming, outgoing, isStream && lastEventIds.length <= cuts);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    lastEventIds,
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

function forward(target: string, incoming: IncomingMessage, outgoing: ServerResponse, cut: boolean): void {
  const { method, headers } = incoming;
  const onward = request(`${target}${incoming.url}`, { method, headers: { ...headers, host: new URL(target).host } }, (answer) => {
    outgoing.writeHead(answer.statusCode ?? 500, answer.headers);
    outgoing.flushHeaders();
    answer.on('data', (chunk: Buffer) => {
      outgoing.write(chunk, () => {
        if (cut && chunk.includes('event: message')) outgoing.destroy();
      });
    });
    answer.on('end', () => outgoing.end());
  });
  onward.on('error', () => outgoing.destroy());
  outgoing.on('close', () => onward.destroy());
  incoming.pipe(onward);
}
