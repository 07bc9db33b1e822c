import { createServer as createHttpServer } from 'node:http';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { findFreePorts } from '../../../ops/local/ports.ts';
import { type Receiver, startReceiver } from '../../support/receiver.ts';

/** The receivers of an organization's events: one takes them, nine do not. */
export interface Receivers {
  live: Receiver;
  /** The addresses of all ten. */
  urls: string[];
  /** How many requests came to an address that is not allowed, or where a redirect leads. */
  forbidden(): number;
  stop(): Promise<void>;
}

const slowMs = 10_000;
const filler = 'x'.repeat(4_000);

/** Starts a receiver of each sort on this machine, where 127.0.0.1 is allowed and 127.0.0.2 is not. */
export async function startReceivers(): Promise<Receivers> {
  const [live, slow, redirecting, target] = [await startReceiver(), await startReceiver(), await startReceiver(), await startReceiver()];
  const hidden = await startReceiver({ host: '127.0.0.2' });
  slow.behave({ slowMs });
  redirecting.behave({ status: 307, headers: { location: target.url } });
  const [refusing = 0] = await findFreePorts(1);
  const hostile = [
    await listen(createServer()),
    await listen(createHttpServer((_request, response) => pour(response, response.writeHead(200).socket))),
    await listen(
      createServer((socket) =>
        pour(
          socket,
          socket.on('error', () => {}),
          'HTTP/1.1 200 OK\r\n',
          `X: ${filler}\r\n`,
        ),
      ),
    ),
    await listen(createServer((socket) => socket.on('error', () => {}).once('data', () => socket.resetAndDestroy()))),
  ];
  return {
    live,
    urls: [
      ...[live, hidden, slow, redirecting].map(({ url }) => url),
      ...[refusing, ...hostile.map(({ port }) => port)].map((port) => `http://127.0.0.1:${port}/`),
      `https://127.0.0.1:${target.port}/`,
    ],
    forbidden: () => hidden.received.length + target.received.length,
    async stop() {
      for (const receiver of [live, slow, redirecting, target, hidden]) await receiver.stop();
      for (const { close } of hostile) close();
    },
  };
}

/** Writes without an end, as fast as the other side reads. */
function pour(into: NodeJS.WritableStream, socket: Socket | null, first = '', rest = filler): void {
  into.write(first);
  const fill = () => {
    while (!socket?.destroyed && into.write(rest));
  };
  into.on('drain', fill);
  fill();
}

async function listen(server: Server): Promise<{ port: number; close: () => void }> {
  const sockets = new Set<Socket>();
  server.on('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const close = () => {
    server.close();
    for (const socket of sockets) socket.destroy();
  };
  return { port: (server.address() as AddressInfo).port, close };
}
