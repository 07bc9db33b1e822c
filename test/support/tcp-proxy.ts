import { connect, createServer, type Server, type Socket } from 'node:net';
import { findFreePorts } from '../../ops/local/ports.ts';

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
  /** Forwards what is asked, and holds the replies back on the connections that are open. */
  holdReplies(): void;
  /** Forwards what came meanwhile, as a network that is back. With `forget`, what was open before stays silent for ever. */
  resume(options?: { forget?: boolean }): void;
  stop(): Promise<void>;
}

interface Pair {
  near: Socket;
  far: Socket;
}

/** Starts a proxy in front of a server, on a port that nothing else takes meanwhile. The caller stops it. */
export async function startTcpProxy(target: { host: string; port: number }): Promise<TcpProxy> {
  // No connection that goes out takes it while nothing listens.
  const [port = 0] = await findFreePorts(1);
  const pairs = new Set<Pair>();
  /** Opened while nothing passes, with what they have said. */
  const held = new Map<Socket, { said: Buffer[]; listen: (chunk: Buffer) => void }>();
  let silent = false;
  let server: Server;

  async function listen(): Promise<void> {
    server = createServer((near) => (silent ? hold(near) : add({ near, far: connect(target) })));
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
      one.pipe(other);
    }
  }

  /** Who connects while nothing passes is heard nowhere: the target has nobody more to serve until something passes again. */
  function hold(near: Socket): void {
    const said: Buffer[] = [];
    const listen = (chunk: Buffer) => void said.push(chunk);
    held.set(near.on('data', listen), { said, listen });
    near.on('error', () => {});
    near.on('close', () => held.delete(near));
  }

  function admitHeld(): void {
    for (const [near, { said, listen }] of held) {
      near.off('data', listen).pause();
      const far = connect(target);
      for (const chunk of said) far.write(chunk);
      add({ near, far });
    }
    held.clear();
  }

  function hangUp(): void {
    for (const { near, far } of pairs) {
      near.destroy();
      far.destroy();
    }
    for (const near of held.keys()) near.destroy();
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
      return held.size + [...pairs].filter(({ near }) => !near.destroyed).length;
    },
    cut,
    mend: listen,
    silence() {
      silent = true;
      for (const pair of pairs) for (const [one, other] of bothWays(pair)) one.unpipe(other).pause();
    },
    holdReplies() {
      for (const { near, far } of pairs) far.unpipe(near).pause();
    },
    resume({ forget = false } = {}) {
      silent = false;
      // What passes already must not be forwarded twice.
      if (!forget) for (const pair of pairs) for (const [one, other] of bothWays(pair)) one.unpipe(other).pipe(other);
      admitHeld();
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

/** A proxy before a database, and the URL that leads to the database through it. */
export async function startDatabaseProxy(databaseUrl: string): Promise<{ proxy: TcpProxy; url: string }> {
  const url = new URL(databaseUrl);
  const proxy = await startTcpProxy({ host: url.hostname, port: Number(url.port) });
  url.host = `127.0.0.1:${proxy.port}`;
  return { proxy, url: url.href };
}
