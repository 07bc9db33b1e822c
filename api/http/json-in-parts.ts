import type { RequestHandler, Response } from 'express';
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
 * fifty small requests. It is sent when all of it is written. Whatever fails is given to `next`.
 */
export const jsonInParts: RequestHandler = (_req, res, next) => {
  const json = res.json.bind(res);
  res.json = (body?: unknown) => {
    if (!isPage(body)) return json(body);
    writePage(res, body).then((bytes) => res.type('json').send(bytes), next);
    return res;
  };
  next();
};

function isPage(body: unknown): body is Page {
  return typeof body === 'object' && body !== null && Array.isArray((body as Partial<Page>).items);
}

async function writePage(res: Response, { items, ...rest }: Page): Promise<Buffer> {
  const parts: Buffer[] = [];
  let text = JSON.stringify({ ...rest, items: [] }).slice(0, -2);
  let sliceEndsAt = performance.now() + sliceMs;
  for (const [place, item] of items.entries()) {
    if (performance.now() >= sliceEndsAt) {
      parts.push(Buffer.from(text));
      text = '';
      sliceEndsAt = await slices.next(clientAddressOf(res));
    }
    text += (place > 0 ? ',' : '') + (JSON.stringify(item) ?? 'null');
  }
  return Buffer.concat([...parts, Buffer.from(`${text}]}`)]);
}
