import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';

/** A span as it arrived. */
export interface CollectedSpan {
  traceId: string;
  spanId: string;
  parentSpanId: string | undefined;
  name: string;
  attributes: Record<string, unknown>;
  /** 2 if it failed. */
  status: number;
  /** `sheaf.process` of its resource. */
  process: unknown;
}

/** A collector that takes spans by OTLP over HTTP, in JSON. */
export interface TraceCollector {
  url: string;
  spans: CollectedSpan[];
  /** Everything that was sent, as it was sent. */
  received: string[];
  /** The headers of the last request. */
  headers: Record<string, unknown>;
  /** Whether requests are kept waiting from now on. */
  silent: boolean;
  /** How many requests wait. */
  readonly waiting: number;
  spansOf(traceId: string): CollectedSpan[];
  stop(): Promise<void>;
}

/** Starts one on a free port. The caller stops it. */
export async function startTraceCollector(): Promise<TraceCollector> {
  const held = new Set<ServerResponse>();
  const server = createServer(async (request, response) => {
    const body = await text(request).catch(() => undefined);
    if (body === undefined) return;
    collector.headers = request.headers;
    if (request.url !== '/v1/traces') return void response.writeHead(404).end();
    if (collector.silent) {
      held.add(response);
      response.once('close', () => held.delete(response));
      return;
    }
    collector.received.push(body);
    collector.spans.push(...read(JSON.parse(body)));
    response.writeHead(200, { 'content-type': 'application/json' }).end('{}');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const collector: TraceCollector = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    spans: [],
    received: [],
    headers: {},
    silent: false,
    get waiting() {
      return held.size;
    },
    spansOf: (traceId) => collector.spans.filter((span) => span.traceId === traceId),
    stop() {
      server.closeAllConnections();
      return new Promise((resolve) => server.close(() => resolve()));
    },
  };
  return collector;
}

function read({ resourceSpans }: any): CollectedSpan[] {
  return resourceSpans.flatMap(({ resource, scopeSpans }: any) =>
    scopeSpans.flatMap(({ spans }: any) =>
      spans.map(({ traceId, spanId, parentSpanId, name, attributes, status }: any) => ({
        ...{ traceId, spanId, parentSpanId: parentSpanId || undefined, name, status: status?.code ?? 0 },
        attributes: toObject(attributes),
        process: toObject(resource.attributes)['sheaf.process'],
      })),
    ),
  );
}

function toObject(attributes: any[] = []): Record<string, unknown> {
  return Object.fromEntries(attributes.map(({ key, value }) => [key, Object.values(value)[0]]));
}
