import { AsyncLocalStorage } from 'node:async_hooks';
import { Readable } from 'node:stream';
import type { Response } from 'express';
import type { Logger } from 'pino';
import type { AnyRoute } from '../../contract/route.ts';
import { renderError } from '../http/errors.ts';
import { requestIdOf } from '../http/request.ts';
import type { StreamEvent } from '../procedure.ts';

/** How often an idle stream sends a comment, so that no proxy on the way closes it as dead. */
export const keepAliveMs = 15_000;

/** The time after which a browser reopens a stream that ended. */
const usualRetryMs = 3_000;

export const eventStreamType = 'text/event-stream; charset=utf-8';

/** Events as JSON, so that an event for many streams is written once. */
const written = new WeakMap<object, string>();

function toJson(data: object): string {
  const json = written.get(data) ?? JSON.stringify(data);
  written.set(data, json);
  return json;
}

function retryAfter(ms: number): string {
  return `retry: ${ms}\n`;
}

/**
 * Renders a stream as server-sent events: `message` events with ids, a comment every 15 s, and before an end by error an `error` event with
 * the envelope and the time after which a browser may come back (`retry`). The response's `close` ends the source: nothing else notices
 * that a client left.
 */
export function toEventStream(log: Logger, route: AnyRoute, res: Response, events: AsyncIterable<StreamEvent>): Readable {
  const iterator = events[Symbol.asyncIterator]();
  // Node requests the next event when the connection can take more, outside of any request's context.
  const within = AsyncLocalStorage.snapshot();
  let reading = false;
  const body = new Readable({
    // At most one event is read ahead. The backlog of a slow reader stays in the subscriber, which can drop it.
    highWaterMark: 1,
    async read() {
      if (reading) return;
      reading = true;
      try {
        const next = await iterator.next();
        reading = false;
        this.push(next.done ? null : `id: ${next.value.id}\nevent: message\ndata: ${toJson(next.value.data)}\n\n`);
      } catch (error) {
        const { envelope, bare, headers } = within(() => renderError(error, { requestId: requestIdOf(res), route, log }));
        const retry = headers['retry-after'] === undefined ? '' : retryAfter(1_000 * Number(headers['retry-after']));
        this.push(`event: error\n${retry}data: ${JSON.stringify(envelope ?? bare)}\n\n`);
        this.push(null);
      }
    },
    destroy(error, callback) {
      clearInterval(keepAlive);
      void iterator.return?.(undefined);
      callback(error);
    },
  });
  const keepAlive = setInterval(() => body.readableLength === 0 && res.write(': keep-alive\n\n'), keepAliveMs);
  res.on('close', () => body.destroy());
  if (res.closed) body.destroy();
  res.setHeader('Content-Type', eventStreamType);
  res.setHeader('X-Accel-Buffering', 'no');
  // A browser that was given a longer wait goes back to the usual one once it is connected.
  res.write(`${retryAfter(usualRetryMs)}\n`);
  return body;
}
