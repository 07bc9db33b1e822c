// A process: a tenant that does one thing with all its force until it is told to stop. It shares no thread and no share of the processors
// with the client that measures.
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { Agent, request as httpRequest } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';

export type Loudness =
  | 'nothing'
  | 'lists'
  | 'reads'
  | 'deletion'
  | 'searches'
  | 'searches by words'
  | 'uploads'
  | 'sign-ups'
  | 'files'
  | 'jobs';

export interface LoudTenant {
  loudness: Loudness;
  urls: string[];
  token: string;
  organizationId: string;
  /** Where it uploads, writes and searches. */
  workspaceId: string;
  /** What it deletes, one after another. */
  toDelete: string[];
  /** What it uploads to be read. */
  files: LoudFile[];
}

interface LoudFile {
  contentType: string;
  bytes: Uint8Array;
}

/** What became of its requests. */
export interface Outcome {
  served: number;
  refused: number;
}

const { loudness, urls, token, organizationId, workspaceId, toDelete, files } = (await once(process, 'message'))[0] as LoudTenant;
const agent = new Agent({ keepAlive: true });
const outcome: Outcome = { served: 0, refused: 0 };
let stopped = false;
let next = 0;

const lists = 10;
const readers = 30;
const writers = 30;
const searchers = 200;
const uploads = 100;
const signers = 30;
const inviters = 10;
const readersOfFiles = 8;
const pollMs = 500;
const queuers = 20;
const queuedJobs = 400;
const uploadBytes = 20 * 1024 * 1024;
const dripBytes = 8_192;
const dripEveryMs = 500;
/** After a refusal, which is no reason for this tenant to wait as long as it was told to. */
const refusedMs = 100;

const loud: Record<Loudness, () => Promise<unknown>> = {
  nothing: () => lanes(1, () => delay(refusedMs)),
  lists: () => lanes(lists, () => call('GET', `/api/v1/organizations/${organizationId}/jobs?limit=100`)),
  reads: () => lanes(readers, () => call('GET', `/api/v1/workspaces/${workspaceId}/documents?organizationId=${organizationId}&limit=100`)),
  deletion: () => Promise.all([deleteAll(), lanes(writers, write)]),
  searches: () => lanes(searchers, () => search({ query: 'the telescope' })),
  'searches by words': () => lanes(searchers, () => search({ query: commonWords, mode: 'lexical' })),
  uploads: () => Promise.all(Array.from({ length: uploads }, uploadSlowly)),
  'sign-ups': () =>
    Promise.all([
      lanes(signers, signUp),
      lanes(inviters, () => call('POST', '/api/auth/organization/invite-member', invitation)),
      lanes(readers, () => call('GET', '/api/auth/get-session')),
    ]),
  files: () => {
    let uploaded = 0;
    return lanes(readersOfFiles, () => readFile(files[uploaded++ % files.length] as LoudFile));
  },
  jobs: () => {
    let created = 0;
    return lanes(queuers, async () => (created++ < queuedJobs ? call('POST', '/api/v1/jobs', embedding) : delay(refusedMs)));
  },
};
/** Words of many texts: a million postings of 100,000 chunks, or nearly so. */
const commonWords = 'use file code type function object value return example install module test';
const invitation = { organizationId, email: 'invited@example.com', role: 'member', resend: true };
const embedding = { organizationId, kind: 'text.embed', texts: ['A loud text.'] };

process.once('message', () => {
  stopped = true;
  // Nobody waits for the responses any more.
  setTimeout(() => agent.destroy(), 2_000).unref();
});
process.once('disconnect', () => process.exit());
process.send?.('begun');
await loud[loudness]();
agent.destroy();
process.send?.(outcome);

async function lanes(count: number, task: () => Promise<unknown>): Promise<void> {
  const lane = async () => {
    while (!stopped) await task().catch(() => delay(refusedMs));
  };
  await Promise.all(Array.from({ length: count }, lane));
}

function search(body: object): Promise<unknown> {
  return call('POST', `/api/v1/workspaces/${workspaceId}/documents/search`, body);
}

async function deleteAll(): Promise<void> {
  for (const id of toDelete) {
    if (stopped) return;
    await call('DELETE', `/api/v1/workspaces/${id}`).catch(() => undefined);
  }
}

/** A write that takes the organization's lock. */
function write(): Promise<unknown> {
  return call('POST', '/api/v1/documents', { workspaceId, name: 'loud.txt', contentType: 'text/plain', size: 1 });
}

/** Each time as somebody else, whom the service does not know yet. */
function signUp(): Promise<unknown> {
  const body = { name: 'Loud', email: `${randomUUID()}@example.com`, password: 'a long password' };
  return call('POST', '/api/auth/sign-up/email', body, '');
}

/** Uploads a document, has it read, and waits for that. */
async function readFile({ contentType, bytes }: LoudFile): Promise<void> {
  const body = { workspaceId, name: 'loud', contentType, size: bytes.length };
  const { document, upload } = JSON.parse(await call('POST', '/api/v1/documents', body));
  await fetch(upload.url, { method: 'PUT', headers: upload.headers, body: new Uint8Array(bytes) });
  await call('POST', `/api/v1/documents/${document.id}/complete`);
  const extraction = { organizationId, kind: 'document.extract', documentId: document.id };
  const { id } = JSON.parse(await call('POST', '/api/v1/jobs', extraction));
  while (!stopped && !isOver(await call('GET', `/api/v1/jobs/${id}`))) await delay(pollMs);
}

function isOver(job: string): boolean {
  return !['queued', 'running'].includes(JSON.parse(job).status);
}

/** Sends a large document as slowly as the least rate allows, and again whenever that is refused. */
async function uploadSlowly(): Promise<void> {
  const body = { workspaceId, name: 'loud.txt', contentType: 'text/plain', size: uploadBytes };
  const { upload } = JSON.parse(await call('POST', '/api/v1/documents', body));
  while (!stopped) {
    const target = new URL(upload.url);
    target.port = new URL(nextUrl()).port;
    if ((await drip(target, upload.headers)) !== 200) await refused();
  }
}

function drip(target: URL, headers: Record<string, string>): Promise<number> {
  return new Promise((resolve) => {
    const req = httpRequest(target, { method: 'PUT', headers: { ...headers, 'content-length': uploadBytes } });
    const timer = setInterval(() => {
      if (stopped) req.destroy();
      else req.write(Buffer.alloc(dripBytes, 'a'));
    }, dripEveryMs);
    const end = (status: number) => {
      clearInterval(timer);
      req.destroy();
      resolve(status);
    };
    req.on('response', (res) => end(res.statusCode ?? 0)).on('error', () => end(0));
    req.on('close', () => end(stopped ? 200 : 0));
    req.flushHeaders();
  });
}

async function refused(): Promise<void> {
  outcome.refused++;
  await delay(refusedMs);
}

function nextUrl(): string {
  return urls[next++ % urls.length] ?? '';
}

/** Sends a request to the APIs in turn, as nobody if the token is empty. Returns the body. Throws if it is refused, after a moment. */
async function call(method: string, path: string, body?: unknown, as = token): Promise<string> {
  const { status, text } = await send(method, `${nextUrl()}${path}`, body, as);
  if (status === 200) outcome.served++;
  else await refused();
  if (status !== 200) throw new Error(`${method} ${path}: ${status}`);
  return text;
}

function send(method: string, url: string, body: unknown, as: string): Promise<{ status: number; text: string }> {
  return new Promise((resolve, reject) => {
    const payload = body === undefined ? '' : JSON.stringify(body);
    const headers = {
      ...(as && { authorization: `Bearer ${as}` }),
      ...(body === undefined ? {} : { 'content-type': 'application/json', 'content-length': Buffer.byteLength(payload) }),
    };
    const req = httpRequest(url, { method, agent, headers }, (res) => {
      let text = '';
      // The text of a list is not kept: this process needs the memory and the time for nothing.
      res.setEncoding('utf8').on('data', (chunk: string) => (text = url.includes('limit=') ? '' : text + chunk));
      res.on('end', () => resolve({ status: res.statusCode ?? 0, text })).on('error', reject);
    });
    req.on('error', reject).end(payload);
  });
}
