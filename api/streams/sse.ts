import { Readable } from 'node:stream';
import type { Response } from 'express';
import type { AnyRoute } from '../../contract/route.ts';
import type { ApiDeps } from '../deps.ts';
import { renderError } from '../http/errors.ts';
import { requestIdOf } from '../http/request.ts';
import type { StreamEvent } from '../procedure.ts';

/** How often a stream that is silent sends a comment, so that nothing between it and its client takes it for dead. */
export const keepAliveMs = 15_000;

export const eventStreamType = 'text/event-stream; charset=utf-8';

/**
 * A stream's events as server-sent events: `message` events with their ids, a comment every 15 s, and an `error` event with
 * the envelope before the end. The answer's `close` ends the source, since a client that leaves ends nothing else.
 */
export function toEventStream(deps: Pick<ApiDeps, 'log'>, route: AnyRoute, res: Response, events: AsyncIterable<StreamEvent>): Readable {
  const iterator = events[Symbol.asyncIterator]();
  let reading = false;
  const body = new Readable({
    // One event is read ahead at the most: a slow reader's backlog waits where it can be dropped.
    highWaterMark: 1,
    async read() {
      if (reading) return;
      reading = true;
      try {
        const next = await iterator.next();
        reading = false;
        this.push(next.done ? null : `id: ${next.value.id}\nevent: message\ndata: ${JSON.stringify(next.value.data)}\n\n`);
      } catch (error) {
        const { envelope, bare } = renderError(error, { requestId: requestIdOf(res), route, log: deps.log });
        this.push(`event: error\ndata: ${JSON.stringify(envelope ?? bare)}\n\n`);
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
  res.flushHeaders();
  return body;
}
