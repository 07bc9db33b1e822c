import { createHash } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { buffer } from 'node:stream/consumers';

/** A server that speaks the interface of Google Cloud Storage, with an empty bucket in it. */
export interface BucketServer {
  apiEndpoint: string;
  bucket: string;
  close(): Promise<void>;
}

interface Stored {
  bytes: Buffer;
  timeCreated: string;
  /** Each object has another, also one that takes the place of another. */
  generation: string;
}

let generations = 0;
const store = (bytes: Buffer): Stored => ({ bytes, timeCreated: new Date().toISOString(), generation: String(++generations) });

const bucket = 'documents';
const objectPath = new RegExp(`^(?:/download)?/storage/v1/b/${bucket}/o/([^/]+)$`);
const listPath = new RegExp(`^/storage/v1/b/${bucket}/o/?$`);

/**
 * A stand-in for the part of Cloud Storage that the driver uses. It keeps objects in memory, holds a PUT to the conditions that its URL
 * signs (which the usual emulator does not), and gives lists two at a time, so that paging shows.
 */
export async function startBucketStandIn(): Promise<BucketServer> {
  const objects = new Map<string, Stored>();
  const server = createServer((req, res) => {
    answer(objects, req, res).catch((error) => {
      // A client that leaves in the middle of its upload is no failure.
      if (!req.destroyed) throw error;
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  return {
    apiEndpoint: `http://127.0.0.1:${typeof address === 'object' && address ? address.port : 0}`,
    bucket,
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

async function answer(objects: Map<string, Stored>, req: IncomingMessage, res: ServerResponse): Promise<void> {
  const url = new URL(req.url ?? '', 'http://localhost');
  if (listPath.test(url.pathname)) return json(res, 200, page(objects, url.searchParams));
  if (req.method === 'POST' && url.pathname === `/upload/storage/v1/b/${bucket}/o`) return upload(objects, req, url, res);
  const name = objectPath.exec(url.pathname)?.[1];
  if (name !== undefined) return objectOf(objects, decodeURIComponent(name), req, url, res);
  const key = url.pathname.startsWith(`/${bucket}/`) ? url.pathname.slice(bucket.length + 2) : undefined;
  if (key === undefined || !url.searchParams.has('X-Goog-Signature')) return json(res, 403, {});
  return req.method === 'PUT' ? put(objects, key, req, url, res) : get(objects, key, url, res);
}

async function put(objects: Map<string, Stored>, key: string, req: IncomingMessage, url: URL, res: ServerResponse): Promise<void> {
  const signed = url.searchParams.get('X-Goog-SignedHeaders')?.split(';') ?? [];
  const bytes = await buffer(req);
  const [least = 0, most = 0] = String(req.headers['x-goog-content-length-range']).split(',').map(Number);
  if (signed.some((header) => req.headers[header] === undefined)) return json(res, 403, { missing: signed });
  if (bytes.length < least || bytes.length > most) return json(res, 400, {});
  if (req.headers['x-goog-if-generation-match'] === '0' && objects.has(key)) return json(res, 412, {});
  objects.set(key, store(bytes));
  json(res, 200, {});
}

/** A multipart upload: the metadata, then the bytes. */
async function upload(objects: Map<string, Stored>, req: IncomingMessage, url: URL, res: ServerResponse): Promise<void> {
  const boundary = /boundary="?([^";]+)/.exec(req.headers['content-type'] ?? '')?.[1];
  const part = (await buffer(req)).toString('latin1').split(`--${boundary}`)[2] ?? '';
  const bytes = Buffer.from(part.slice(part.indexOf('\r\n\r\n') + 4).replace(/\r\n$/, ''), 'latin1');
  const key = url.searchParams.get('name') ?? '';
  if (url.searchParams.get('ifGenerationMatch') === '0' && objects.has(key)) {
    json(res, 412, { error: { code: 412, message: 'It exists.' } });
    return;
  }
  const stored = store(bytes);
  objects.set(key, stored);
  json(res, 200, resource(key, stored));
}

function get(objects: Map<string, Stored>, key: string, url: URL, res: ServerResponse): void {
  const found = objects.get(key);
  res.statusCode = found ? 200 : 404;
  res.setHeader('Content-Type', url.searchParams.get('response-content-type') ?? '');
  res.setHeader('Content-Disposition', url.searchParams.get('response-content-disposition') ?? '');
  res.end(found?.bytes);
}

function objectOf(objects: Map<string, Stored>, key: string, req: IncomingMessage, url: URL, res: ServerResponse): void {
  const found = objects.get(key);
  if (!found) json(res, 404, { error: { code: 404, message: 'No such object' } });
  else if (req.method === 'DELETE' && (url.searchParams.get('ifGenerationMatch') ?? found.generation) !== found.generation)
    json(res, 412, { error: { code: 412, message: 'Another generation' } });
  else if (req.method === 'DELETE') {
    objects.delete(key);
    res.writeHead(204).end();
  } else if (url.searchParams.get('alt') === 'media') {
    const [, from, to] = /^bytes=(\d+)-(\d+)$/.exec(req.headers.range ?? '') ?? [];
    if (to === undefined) res.end(found.bytes);
    else res.writeHead(206).end(found.bytes.subarray(Number(from), Number(to) + 1));
  } else json(res, 200, resource(key, found));
}

function page(objects: Map<string, Stored>, query: URLSearchParams): object {
  const keys = [...objects.keys()].filter((key) => key.startsWith(query.get('prefix') ?? '')).sort();
  const from = keys.findIndex((key) => key > (query.get('pageToken') ?? '') && key >= (query.get('startOffset') ?? ''));
  const shown = from < 0 ? [] : keys.slice(from, from + 2);
  const last = shown.at(-1);
  const items = shown.flatMap((key) => {
    const found = objects.get(key);
    return found ? [resource(key, found)] : [];
  });
  return { kind: 'storage#objects', items, ...(last !== undefined && last !== keys.at(-1) ? { nextPageToken: last } : {}) };
}

function resource(key: string, { bytes, timeCreated, generation }: Stored): object {
  const md5Hash = createHash('md5').update(bytes).digest('base64');
  return { kind: 'storage#object', name: key, bucket, size: String(bytes.length), timeCreated, generation, md5Hash };
}

function json(res: ServerResponse, status: number, body: object): void {
  res.writeHead(status, { 'Content-Type': 'application/json' }).end(JSON.stringify(body));
}
