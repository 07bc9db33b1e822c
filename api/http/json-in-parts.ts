import type { Request, RequestHandler, Response } from 'express';
import { TimeSlices } from '../../concurrency/time-slices.ts';
import { clientAddressOf } from './request.ts';

const sliceMs = 2;
/** All responses share one slice of the thread at a time, in which clients take turns. */
const slices = new TimeSlices({ sliceMs });

interface Page {
  items: unknown[];
}

/**
 * Lets `res.json` write a page of a list item by item, with turns for other requests between: a page of four megabytes takes as long as
 * fifty small requests. It is sent when all of it is written, and not at all if the client has left. Whatever fails is given to `next`.
 */
export const jsonInParts: RequestHandler = (req, res, next) => {
  const json = res.json.bind(res);
  res.json = (body?: unknown) => {
    if (isPage(body)) sendPage(req, res, body).catch(next);
    else if (isWrapped(body)) sendPage(req, res, body.json, { before: '{"json":', after: '}' }).catch(next);
    else json(body);
    return res;
  };
  next();
};

/** Whether `res.json` writes it item by item. */
export function isPage(body: unknown): body is Page {
  return typeof body === 'object' && body !== null && Array.isArray((body as Partial<Page>).items);
}

/** As oRPC's protocol has it. */
function isWrapped(body: unknown): body is { json: Page } {
  return typeof body === 'object' && body !== null && Object.keys(body).join() === 'json' && isPage((body as { json: unknown }).json);
}

async function sendPage(
  req: Request,
  res: Response,
  { items, ...rest }: Page,
  { before, after } = { before: '', after: '' },
): Promise<void> {
  const nextSlice = () => slices.next(clientAddressOf(res));
  let sliceEndsAt = performance.now() + sliceMs;
  const parts: Buffer[] = [];
  let text = `${before}{"items":[`;
  for (const [place, item] of items.entries()) {
    if (performance.now() >= sliceEndsAt) {
      parts.push(Buffer.from(text));
      text = '';
      sliceEndsAt = await nextSlice();
      // The client has left.
      if (res.destroyed) return;
    }
    text += (place > 0 ? ',' : '') + (JSON.stringify(item) ?? 'null');
  }
  const others = JSON.stringify(rest).slice(1);
  parts.push(Buffer.from(`${text}]${others === '}' ? '' : ','}${others}${after}`));
  res.type('json').set('Content-Length', String(parts.reduce((sum, part) => sum + part.length, 0)));
  for (const part of req.method === 'HEAD' ? [] : parts) {
    if (performance.now() >= sliceEndsAt) sliceEndsAt = await nextSlice();
    res.write(part);
  }
  res.end();
}
