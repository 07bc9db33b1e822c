import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { collectDefaultMetrics, type Registry } from 'prom-client';

/** A server of metrics. */
interface MetricsServer {
  port: number;
  /** Stops it, and breaks the connections that are open. */
  close(): Promise<void>;
}

/** The metrics that a process serves at its port. */
interface MetricsSource {
  registry: Registry;
  /** Called before each scrape, to set gauges. It must end soon, and must not throw. */
  refresh?: () => Promise<void>;
  /** More metrics in Prometheus's text format, from an exporter of a library. */
  readOthers?: () => Promise<string>;
}

/**
 * Serves `GET /metrics` at the host, with those of the process itself: memory, processor, event loop, garbage collection. Rejects if the
 * port is taken. The server does not keep the process alive.
 */
export async function serveMetrics(
  at: { host: string; port: number },
  { registry, refresh, readOthers }: MetricsSource,
): Promise<MetricsServer> {
  collectDefaultMetrics({ register: registry });
  async function read(): Promise<string> {
    await refresh?.();
    const [own, others] = await Promise.all([registry.metrics(), readOthers?.().catch(() => '')]);
    return `${own}${others ?? ''}`;
  }
  const server = createServer((req, res) => {
    if (req.method !== 'GET' || req.url?.split('?')[0] !== '/metrics') {
      res.writeHead(404).end();
      return;
    }
    read().then(
      (text) => res.writeHead(200, { 'content-type': registry.contentType }).end(text),
      () => res.writeHead(500).end(),
    );
  });
  server.unref();
  await new Promise<void>((resolve, reject) => server.once('error', reject).listen(at, () => resolve()));
  return {
    port: (server.address() as AddressInfo).port,
    close() {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      server.closeAllConnections();
      return closed;
    },
  };
}
