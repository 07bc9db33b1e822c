import { createHash, timingSafeEqual } from 'node:crypto';
import type { Payload, PayloadCodec } from '@temporalio/common';
import proto from '@temporalio/proto';
import express, { type ErrorRequestHandler, type Express, type RequestHandler } from 'express';
import { z } from 'zod';
import { UnknownPayloadKey } from '../adapters/temporal/payload-codec.ts';

const { Payload: PayloadMessage } = proto.temporal.api.common.v1;

const largestBody = '64mb';

/** Payloads as protobuf's JSON has them: bytes are base64. */
const body = z.object({
  payloads: z.array(z.object({ metadata: z.record(z.string(), z.base64()).optional(), data: z.base64().optional() })),
});

interface CodecServerOptions {
  codec: PayloadCodec;
  /** The only origin whose pages may read responses. */
  uiOrigin: string;
  /** The token that callers send as `Authorization: Bearer`; undefined admits everybody who can reach the server. */
  token: string | undefined;
  /** Called once for each reason why payloads stay as they are. */
  note(message: string): void;
}

/**
 * The server that Temporal's UI and CLI use to show encrypted payloads: `POST /decode`, and `POST /encode` for payloads that they send, both
 * with `{ payloads: […] }`. A payload whose key is not known is left as it is. Requests of pages of other origins are refused with 403.
 */
export function createCodecServer({ codec, uiOrigin, token, note }: CodecServerOptions): Express {
  const noted = new Set<string>();
  const decodeOne = async (payload: Payload): Promise<Payload> => {
    try {
      return (await codec.decode([payload]))[0] ?? payload;
    } catch (error) {
      if (!(error instanceof UnknownPayloadKey)) throw error;
      if (!noted.has(error.message)) note(error.message);
      noted.add(error.message);
      return payload;
    }
  };
  const app = express();
  app.disable('x-powered-by').disable('etag');
  app.use(allowOrigin(uiOrigin));
  if (token !== undefined) app.use(demandToken(token));
  app.use(express.json({ limit: largestBody }));
  app.post(
    '/decode',
    convert((payloads) => Promise.all(payloads.map(decodeOne))),
  );
  app.post(
    '/encode',
    convert((payloads) => codec.encode(payloads)),
  );
  app.use((_request, response) => void refuse(response, 404, 'There are POST /decode and POST /encode.'));
  app.use(onError);
  return app;
}

/** Also refuses to do work for a page that could not read the response. Programs send no origin. */
function allowOrigin(uiOrigin: string): RequestHandler {
  return (request, response, next) => {
    const origin = request.get('origin');
    response.vary('Origin');
    if (origin === undefined) return next();
    if (origin !== uiOrigin) return refuse(response, 403, `Only pages of ${uiOrigin} may ask: see TEMPORAL_UI_URL.`);
    response.set({ 'access-control-allow-origin': uiOrigin, 'access-control-allow-credentials': 'true' });
    if (request.method !== 'OPTIONS') return next();
    const headers = request.get('access-control-request-headers') ?? '';
    response.set({ 'access-control-allow-methods': 'POST', 'access-control-allow-headers': headers, 'access-control-max-age': '600' });
    response.status(204).end();
  };
}

function demandToken(token: string): RequestHandler {
  const expected = digest(`Bearer ${token}`);
  return (request, response, next) => {
    if (timingSafeEqual(expected, digest(request.get('authorization') ?? ''))) return next();
    refuse(response, 401, 'TEMPORAL_CODEC_TOKEN is demanded, as Authorization: Bearer.');
  };
}

// All digests have the same length, so the time reveals nothing about the token.
function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}

function convert(work: (payloads: Payload[]) => Promise<Payload[]>): RequestHandler {
  return async (request, response) => {
    const parsed = body.safeParse(request.body);
    if (!parsed.success) return refuse(response, 400, 'The body must be { "payloads": […] }, with their bytes as base64.');
    const converted = await work(parsed.data.payloads.map((payload) => PayloadMessage.fromObject(payload)));
    response.json({ payloads: converted.map((payload) => PayloadMessage.toObject(PayloadMessage.fromObject(payload), { bytes: String })) });
  };
}

const onError: ErrorRequestHandler = (error, _request, response, _next) => {
  const status = typeof error?.status === 'number' && error.status >= 400 && error.status < 500 ? error.status : 500;
  refuse(response, status, status === 500 ? 'The codec server failed.' : 'The request is malformed or too large.');
};

function refuse(response: Parameters<RequestHandler>[1], status: number, message: string): void {
  response.status(status).json({ error: { message } });
}
