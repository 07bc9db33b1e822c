import { randomInt } from 'node:crypto';
import { isIPv6 } from 'node:net';
import getPort from 'get-port';
import type { LocalConfig } from '../../base/config/local.ts';
import type { ServiceName } from './service-names.ts';

/** Below the ports of outgoing connections: one of those could take a port before our program listens on it. */
const range = { from: 20_000, to: 32_000 };
const candidates = 20;

/** Ports that nothing listens on now, all different. Random, so that several processes that look at once find different ones. */
export async function findFreePorts(count: number): Promise<number[]> {
  const findOne = () => getPort({ port: Array.from({ length: candidates }, () => randomInt(range.from, range.to)) });
  return await Promise.all(Array.from({ length: count }, findOne));
}

/** Says whether something listens on the port, on any interface of this machine. */
export async function isPortBusy(port: number): Promise<boolean> {
  return (await getPort({ port })) !== port;
}

/**
 * Throws an error for the user that names every busy port of the services to be started, with the variable that chooses another. A port of
 * 0 is one that will be free, or none.
 */
export async function checkPorts(ports: LocalConfig['ports'], services: ServiceName[]): Promise<void> {
  const used: { service: ServiceName; what: string; port: number; variable: string }[] = [
    { service: 'api', what: 'the API', port: ports.api, variable: 'PORT' },
    { service: 'postgres', what: 'Postgres', port: ports.postgres, variable: 'EMBEDDED_PG_PORT' },
    { service: 'temporal', what: 'Temporal', port: ports.temporal, variable: 'EMBEDDED_TEMPORAL_PORT' },
    { service: 'temporal', what: "Temporal's web UI", port: ports.temporalUi, variable: 'EMBEDDED_TEMPORAL_PORT' },
    { service: 'ai', what: 'the AI service', port: ports.ai, variable: 'AI_PORT' },
    { service: 'api', what: 'metrics of the API', port: ports.apiMetrics, variable: 'METRICS_PORT' },
    { service: 'ai', what: 'metrics of the AI service', port: ports.aiMetrics, variable: 'METRICS_PORT' },
  ];
  const wanted = used.filter(({ service, port }) => services.includes(service) && port !== 0);
  const twice = wanted.find((one) => wanted.some((other) => other !== one && other.port === one.port));
  if (twice) throw new Error(`Port ${twice.port} is given to more than one service: ${twice.variable} is one of them.`);
  const isBusy = await Promise.all(wanted.map(({ port }) => isPortBusy(port)));
  const busy = wanted.filter((_, index) => isBusy[index]);
  if (busy.length === 0) return;
  const free = await findFreePorts(busy.length);
  const lines = busy.map(({ what, port, variable }) => `  port ${port} (${what}): choose another with ${variable}`);
  const example = busy.map(({ variable }, index) => `${variable}=${free[index]}`).join(' ');
  throw new Error(
    `Something else listens on ${busy.length === 1 ? 'a port' : 'ports'} that Sheaf needs:\n${lines.join('\n')}\nFor example: ${example} npm start`,
  );
}

/** The host name to reach a service on this machine that listens on `host`: `otherwise` if that is every interface, or absent. */
export function reachableHost(host: string | undefined, otherwise = '127.0.0.1'): string {
  if (!host || host === '0.0.0.0' || host === '::') return otherwise;
  return isIPv6(host) ? `[${host}]` : host;
}
