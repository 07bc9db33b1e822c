import { connect, createServer, type Server, type Socket } from 'node:net';
import { findFreePorts } from '../../local/ports.ts';

/** A way to a server that a test can cut: nobody is asked, connections just break, or fall silent. */
export interface TcpProxy {
  port: number;
  /** How many connections are open. */
  readonly open: number;
  /** Breaks every connection and refuses new ones. */
  cut(): Promise<void>;
  /** Listens again, on the same port. */
  mend(): Promise<void>;
  /** Forwards nothing any more, as a network that drops packets: connections stay open, and new ones are accepted. */
  silence(): void;
  /** Forwards what came meanwhile, as a network that is back. With `forget`, what was open before stays silent for ever. */
  resume(options?: { forget?: boolean }): void;
  stop(): Promise<void>;
}

interface Pair {
  near: Socket;
  far: Socket;
  /** Opened while nothing passed. */
  isLate: boolean;
}

export async function startTcpProxy(target: { host: string; port: number }): Promise<TcpProxy> {
  // No connection that goes out takes it while nothing listens.
  const [port = 0] = await findFreePorts(1);
  const pairs = new Set<Pair>();
  let silent = false;
  let server: Server;

  async function listen(): Promise<void> {
    server = createServer((near) => add({ near, far: connect(target), isLate: silent }));
    await new Promise<void>((resolve, reject) => server.once('error', reject).listen(port, '127.0.0.1', resolve));
  }

  function add(pair: Pair): void {
    pairs.add(pair);
    for (const [one, other] of bothWays(pair)) {
      one.on('error', () => other.destroy());
      one.on('close', () => {
        if (other.destroyed) pairs.delete(pair);
        // A network that drops packets does not tell of an end either.
        if (!silent) other.destroy();
      });
      if (silent) one.pause();
      else one.pipe(other);
    }
  }

  function hangUp(): void {
    for (const { near, far } of pairs) {
      near.destroy();
      far.destroy();
    }
  }

  async function cut(): Promise<void> {
    const closed = new Promise((resolve) => server.close(resolve));
    hangUp();
    await closed;
  }

  await listen();
  return {
    port,
    get open() {
      return [...pairs].filter(({ near }) => !near.destroyed).length;
    },
    cut,
    mend: listen,
    silence() {
      silent = true;
      for (const pair of pairs) for (const [one, other] of bothWays(pair)) one.unpipe(other).pause();
    },
    resume({ forget = false } = {}) {
      silent = false;
      for (const pair of pairs) {
        if (!forget || pair.isLate) for (const [one, other] of bothWays(pair)) one.pipe(other);
      }
    },
    stop: cut,
  };
}

function bothWays({ near, far }: Pick<Pair, 'near' | 'far'>): [Socket, Socket][] {
  return [
    [near, far],
    [far, near],
  ];
}
