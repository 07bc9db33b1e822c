import type { Request, RequestHandler, Response } from 'express';
import { TimeSlices } from '../../concurrency/time-slices.ts';
import { clientAddressOf, paceOf } from './request.ts';

const sliceMs = 2;
/** All responses share one slice of the thread at a time, in which clients take turns. */
const slices = new TimeSlices({ sliceMs });

/** The list of a response, and what is written around it. */
interface List {
  before: string;
  items: unknown[];
  after: string;
}

/**
 * Lets `res.json` write a list item by item, with turns for other requests between: a page of four megabytes takes as long as fifty small
 * requests. It is sent when all of it is written, and not at all if the client has left. Whatever fails is given to `next`.
 */
export const jsonInParts: RequestHandler = (req, res, next) => {
  const json = res.json.bind(res);
  res.json = (body?: unknown) => {
    const list = listIn(body) ?? listInWrapped(body);
    if (list) sendList(req, res, list).catch(next);
    else json(body);
    return res;
  };
  next();
};

/** Whether `res.json` writes it item by item. */
export function hasList(body: unknown): boolean {
  return listIn(body) !== undefined;
}

/** A body may be the list, or have it as `items` or `entries`. */
function listIn(body: unknown): List | undefined {
  if (Array.isArray(body)) return { before: '[', items: body, after: ']' };
  if (typeof body !== 'object' || body === null) return undefined;
  for (const [name, items] of Object.entries(body)) {
    if (!Array.isArray(items) || !['items', 'entries'].includes(name)) continue;
    const others = JSON.stringify({ ...body, [name]: undefined }).slice(1);
    return { before: `{"${name}":[`, items, after: `]${others === '}' ? '' : ','}${others}` };
  }
  return undefined;
}

/** As oRPC's protocol has it. */
function listInWrapped(body: unknown): List | undefined {
  if (typeof body !== 'object' || body === null || Object.keys(body).join() !== 'json') return undefined;
  const list = listIn((body as { json: unknown }).json);
  return list && { ...list, before: `{"json":${list.before}`, after: `${list.after}}` };
}

async function sendList(req: Request, res: Response, { before, items, after }: List): Promise<void> {
  const nextSlice = () => slices.next(clientAddressOf(res));
  let sliceEndsAt = performance.now() + sliceMs;
  const parts: Buffer[] = [];
  let text = before;
  for (const [place, item] of items.entries()) {
    if (performance.now() >= sliceEndsAt) {
      const part = Buffer.from(text);
      parts.push(part);
      text = '';
      await paceOf(res)?.(part.length);
      sliceEndsAt = await nextSlice();
      // The client has left.
      if (res.destroyed) return;
    }
    text += (place > 0 ? ',' : '') + (JSON.stringify(item) ?? 'null');
  }
  parts.push(Buffer.from(text + after));
  res.type('json').set('Content-Length', String(parts.reduce((sum, part) => sum + part.length, 0)));
  for (const part of req.method === 'HEAD' ? [] : parts) {
    if (performance.now() >= sliceEndsAt) sliceEndsAt = await nextSlice();
    res.write(part);
  }
  res.end();
}
