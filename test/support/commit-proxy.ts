import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

/** A way to Postgres on which the answer to a COMMIT that Postgres has made can be kept from the client. */
export interface CommitProxy {
  /** The URL of the database, through the proxy. */
  url: string;
  /**
   * Watches for the next transaction that sends a text, such as an id among the values of a statement. `onCommitted` is called when
   * Postgres has committed it; its answer, and all that follows on the connection, is held. `cut` breaks the connection.
   */
  holdCommitOf(text: string, onCommitted: (cut: () => void) => void): void;
  stop(): Promise<void>;
}

interface Watch {
  text: string;
  onCommitted: (cut: () => void) => void;
}

/** Starts a proxy in front of the server of a database. */
export async function startCommitProxy(databaseUrl: string): Promise<CommitProxy> {
  const target = new URL(databaseUrl);
  const sockets = new Set<Socket>();
  const watches = new Set<Watch>();
  const server = createServer((near) => {
    const far = connect({ host: target.hostname, port: Number(target.port) });
    forward(near, far, watches);
    closeTogether(near, far, sockets);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = new URL(databaseUrl);
  url.hostname = '127.0.0.1';
  url.port = String((server.address() as AddressInfo).port);
  return {
    url: url.href,
    holdCommitOf: (text, onCommitted) => void watches.add({ text, onCommitted }),
    stop: async () => {
      const closed = new Promise((resolve) => server.close(resolve));
      for (const socket of sockets) socket.destroy();
      await closed;
    },
  };
}

/** Forwards one connection both ways, until Postgres answers the commit of a transaction that is watched. */
function forward(near: Socket, far: Socket, watches: Set<Watch>): void {
  let watched: Watch | undefined;
  let inTransaction = false;
  let committing = false;
  let held = false;
  near.on('data', (chunk) => {
    const sent = chunk.toString('latin1');
    if (/begin\0|start transaction/i.test(sent)) inTransaction = true;
    for (const watch of watches) {
      // A statement on its own has no commit.
      if (watched || !inTransaction || !sent.includes(watch.text)) continue;
      watched = watch;
      watches.delete(watch);
    }
    committing ||= watched !== undefined && /commit\0/i.test(sent);
    if (/(commit|rollback)\0/i.test(sent)) inTransaction = false;
    far.write(chunk);
  });
  far.on('data', (chunk) => {
    if (committing && !held) {
      held = true;
      watched?.onCommitted(() => near.destroy());
    }
    if (!held) near.write(chunk);
  });
}

/** Closes each of two sockets when the other is closed. Both are among `sockets` until then. */
function closeTogether(near: Socket, far: Socket, sockets: Set<Socket>): void {
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
  }
}
