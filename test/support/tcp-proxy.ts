import type { AddressInfo } from 'node:net';
import { connect, createServer, type Server, type Socket } from 'node:net';

/** A way to a server that a test can cut: nobody is asked, connections just break. */
export interface TcpProxy {
  port: number;
  /** How many connections are open. */
  readonly open: number;
  /** Breaks every connection and refuses new ones. */
  cut(): Promise<void>;
  /** Listens again, on the same port. */
  mend(): Promise<void>;
  stop(): Promise<void>;
}

export async function startTcpProxy(target: { host: string; port: number }): Promise<TcpProxy> {
  const sockets = new Set<Socket>();
  let server: Server;

  async function listen(port: number): Promise<number> {
    server = createServer((near) => {
      const far = connect(target);
      for (const [one, other] of [
        [near, far],
        [far, near],
      ] as const) {
        sockets.add(one);
        one.on('error', () => other.destroy());
        one.on('close', () => {
          sockets.delete(one);
          other.destroy();
        });
        one.pipe(other);
      }
    });
    await new Promise<void>((resolve, reject) => server.once('error', reject).listen(port, '127.0.0.1', resolve));
    return (server.address() as AddressInfo).port;
  }

  async function cut(): Promise<void> {
    const closed = new Promise((resolve) => server.close(resolve));
    for (const socket of sockets) socket.destroy();
    await closed;
  }

  const port = await listen(0);
  return {
    port,
    get open() {
      return sockets.size / 2;
    },
    cut,
    mend: () => listen(port).then(() => undefined),
    stop: cut,
  };
}
