import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, isIPv6, type Server } from 'node:net';

/** Below those that systems give to outgoing connections: one of these could take a port before the program it is for listens. */
const range = { from: 20_000, to: 32_000 };

/** Ports that nothing listens on now, all different. Random, so that several who look at once find different ones. */
export async function findFreePorts(count: number): Promise<number[]> {
  const servers = await Promise.all(Array.from({ length: count }, holdAnyPort));
  const ports = servers.map((server) => (server.address() as AddressInfo).port);
  await Promise.all(servers.map((server) => new Promise((resolve) => server.close(resolve))));
  return ports;
}

async function holdAnyPort(): Promise<Server> {
  for (;;) {
    const server = createServer();
    try {
      server.listen(randomInt(range.from, range.to));
      await once(server, 'listening');
      return server;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EADDRINUSE') throw error;
    }
  }
}

/** Says whether something listens on the port, on any interface of this machine. */
export async function isPortBusy(port: number): Promise<boolean> {
  const answers = await Promise.all(['127.0.0.1', '::1'].map((host) => acceptsConnection(host, port)));
  return answers.includes(true) || !(await canListen(port));
}

/** Says whether a connection to the port is accepted, within a second. */
export function acceptsConnection(host: string, port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ host, port, timeout: 1000 });
    const answer = (accepted: boolean) => {
      socket.destroy();
      resolve(accepted);
    };
    socket
      .once('connect', () => answer(true))
      .once('error', () => answer(false))
      .once('timeout', () => answer(false));
  });
}

function canListen(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(false)).listen(port, () => server.close(() => resolve(true)));
  });
}

/** Where a service on this machine is reached that listens on a host: by `otherwise` if that is every interface, or none is named. */
export function reachableHost(host: string | undefined, otherwise = '127.0.0.1'): string {
  if (!host || host === '0.0.0.0' || host === '::') return otherwise;
  return isIPv6(host) ? `[${host}]` : host;
}
