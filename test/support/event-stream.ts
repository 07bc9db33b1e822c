import { createParser } from 'eventsource-parser';
import type { Answer, TestApi } from './api.ts';
import { recorder } from './recorder.ts';

export interface StreamedEvent {
  event: string;
  id?: string | undefined;
  data: any;
}

/** An open stream of server-sent events, each held to the OpenAPI document as it comes in. */
export interface EventStream {
  events: StreamedEvent[];
  /** The id that stands for its beginning, if the service sent one. */
  begin: string | undefined;
  /** How long a browser would wait before it opens the stream again, in milliseconds: what it was told last. */
  retryMs(): number | undefined;
  /** The first event, also of those that came already, that fulfils a condition; throws after a minute or at the end of the stream. */
  first(condition: (event: StreamedEvent) => boolean): Promise<StreamedEvent>;
  /** Resolves when the stream has ended. */
  ended: Promise<void>;
  /** Hangs up. */
  close(): void;
}

interface StreamOptions {
  token: string;
  organizationId: string;
  workspaceId?: string | undefined;
  lastEventId?: string | undefined;
}

/** Opens `jobs.stream` over REST. */
export function openJobStream(api: TestApi, options: StreamOptions): Promise<EventStream> {
  const { token, lastEventId } = options;
  return openStream(api, { operation: 'jobs.stream', method: 'GET', path: pathOf(options), token, lastEventId });
}

interface StreamRequest {
  operation: string;
  method: 'GET' | 'POST';
  path: string;
  token: string;
  lastEventId?: string | undefined;
  headers?: Record<string, string>;
  body?: object;
}

/** Opens the stream of an operation over REST. */
export async function openStream(
  api: TestApi,
  { operation, method, path, token, lastEventId, ...rest }: StreamRequest,
): Promise<EventStream> {
  const requestHeaders = new Headers({
    authorization: `Bearer ${token}`,
    ...(lastEventId !== undefined ? { 'last-event-id': lastEventId } : {}),
    ...(rest.body ? { 'content-type': 'application/json' } : {}),
    ...rest.headers,
  });
  const controller = new AbortController();
  const body = rest.body ? { body: JSON.stringify(rest.body) } : {};
  const response = await fetch(`${api.url}${path}`, { method, headers: requestHeaders, ...body, signal: controller.signal });
  if (response.status !== 200 || !response.body) throw new Error(`the stream answered ${response.status}: ${await response.text()}`);
  recorder.check({ method, path, requestHeaders, status: 200, headers: response.headers, body: undefined });

  const events: StreamedEvent[] = [];
  let retryMs: number | undefined;
  let failure: Error | undefined;
  let wake = () => {};
  const parser = createParser({
    onRetry(ms) {
      retryMs = ms;
    },
    onEvent({ event = 'message', id, data }) {
      const streamed = { event, ...(id === undefined ? {} : { id }), data: JSON.parse(data) };
      recorder.checkEvent(operation, streamed);
      events.push(streamed);
      wake();
    },
  });
  const received = response.body;
  let open = true;
  const ended = (async () => {
    const decoder = new TextDecoder();
    try {
      for await (const chunk of received) parser.feed(decoder.decode(chunk, { stream: true }));
    } catch (error) {
      if (!controller.signal.aborted) failure = error as Error;
    }
    open = false;
    wake();
    if (failure) throw failure;
  })();
  ended.catch(() => {});

  return {
    events,
    begin: response.headers.get('last-event-id') ?? undefined,
    retryMs: () => retryMs,
    ended,
    close: () => controller.abort(),
    async first(condition) {
      const deadline = performance.now() + 60_000;
      for (;;) {
        const found = events.find(condition);
        if (found) return found;
        if (!open) throw failure ?? new Error(`the stream ended after ${describeEvents(events)}`);
        if (performance.now() > deadline)
          throw new Error(`no such event came within a minute: ${condition}; these did: ${describeEvents(events)}`);
        await new Promise<void>((resolve) => {
          wake = resolve;
          setTimeout(resolve, 200);
        });
      }
    },
  };
}

/** How many events there are, and the last of them, each cut short: a stream may have carried megabytes. */
function describeEvents(events: StreamedEvent[]): string {
  const last = events.slice(-10).map((event) => JSON.stringify(event).slice(0, 300));
  return `${events.length} events, the last of which are\n${last.join('\n')}`;
}

/** The error that a stream answers with before it opens. */
export function refusedJobStream(api: TestApi, options: StreamOptions): Promise<Answer> {
  const { token, lastEventId } = options;
  return api.request('GET', pathOf(options), { token, headers: lastEventId === undefined ? {} : { 'last-event-id': lastEventId } });
}

function pathOf({ organizationId, workspaceId }: StreamOptions): string {
  return `/api/v1/organizations/${organizationId}/jobs/stream${workspaceId ? `?workspaceId=${workspaceId}` : ''}`;
}
