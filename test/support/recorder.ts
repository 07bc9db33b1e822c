import { appendFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { inheritedEnvironment, loadTestServices } from '../../base/config/local.ts';
import { type DescribedAnswers, describeAnswers } from './described-answers.ts';

/** A request of a test, and what the API answered. */
interface Exchange {
  method: string;
  /** With its query. */
  path: string;
  requestHeaders: Headers;
  status: number;
  headers: Headers;
  /** Parsed where it is JSON. */
  body: unknown;
}

/** Holds every answer of the API to what the service says of itself. */
interface Recorder {
  /** Reads the OpenAPI document, which keeps this process from all else for seconds if the machine is busy; otherwise the first check does. */
  prepare(): void;
  /** Throws when an answer is not one that the OpenAPI document declares, or lacks a header that every answer carries. */
  check(exchange: Exchange): void;
  /**
   * Throws when an error of sign-in is not in the envelope that all of them have. Says nothing about headers, which the rest of the
   * API adds. What is refused before it reaches an endpoint does not go into the record.
   */
  checkAuth(exchange: Pick<Exchange, 'method' | 'path' | 'status' | 'body'>): void;
  /** Checks one event of a stream of server-sent events. */
  checkEvent(operation: string, event: { event: string; id?: string | undefined; data: unknown }): void;
}

const { recordDir } = loadTestServices(inheritedEnvironment());
const recorded = new Set<string>();
let described: DescribedAnswers | undefined;

/** What the tests see goes into the record of the run, for `test/support/coverage.ts`. */
export const recorder: Recorder = {
  prepare() {
    described ??= describeAnswers();
  },
  check(exchange) {
    const [path = ''] = exchange.path.split('?');
    checkHeaders(exchange, path);
    if (isAuth(path)) return recorder.checkAuth(exchange);
    if (!isApi(path) || exchange.method === 'OPTIONS' || path === '/api/v1/openapi.json') return;
    described ??= describeAnswers();
    const operation = described.find(exchange.method, path);
    const body = path.startsWith('/rpc/') ? unwrap(exchange.body) : exchange.body;
    if (!operation) return checkUnknown(exchange, body);
    if (isLines(exchange.headers)) for (const line of linesOf(body)) described.checkLine(operation, JSON.parse(line));
    else if (exchange.method !== 'HEAD' && !isEventStream(exchange.headers)) described.check(operation, exchange.status, body);
    record(operation, exchange.status, body);
  },
  checkAuth({ method, path, status, body }) {
    const operation = `${method} ${path.split('?')[0]}`;
    if (status < 400) return recordEntry({ operation, status, code: 'OK' });
    if (method === 'HEAD' || isBare(body)) return;
    const { defined, code } = checkAuthError(body, status, `${operation} answered ${status}`);
    const reached = defined && code !== 'INVALID_ORIGIN' && code !== 'TOO_MANY_REQUESTS';
    if (reached || turnedOff.has(operation)) recordEntry({ operation, status, code });
  },
  checkEvent(operation, event) {
    described ??= describeAnswers();
    described.checkEvent(operation, event);
    if (event.event === 'error') record(operation, 200, event.data);
  },
};

function checkHeaders({ method, status, headers, requestHeaders }: Exchange, path: string): void {
  const where = `${method} ${path} answered ${status}`;
  const asked = requestHeaders.get('x-request-id');
  expect(headers.get('x-request-id'), `${where}: X-Request-Id`).to.match(/^[A-Za-z0-9._-]{1,128}$/);
  if (asked !== null && /^[A-Za-z0-9._-]{1,128}$/.test(asked)) expect(headers.get('x-request-id'), where).to.equal(asked);
  if (!isApi(path) && !isAuth(path)) return;
  expect(headers.get('content-security-policy'), where).to.equal("default-src 'none'; frame-ancestors 'none'");
  const cacheable = path === '/api/v1/openapi.json' && status < 400;
  expect(headers.get('cache-control'), where).to.equal(cacheable ? 'no-cache' : 'private, no-store');
  expect(headers.get('vary'), `${where}: Vary`).to.match(/\bOrigin\b/);
  if (isApi(path) && status !== 500 && method !== 'OPTIONS') {
    expect(headers.get('ratelimit'), `${where}: RateLimit`).to.match(/^"\w+";r=\d+;t=\d+$/);
    expect(headers.get('ratelimit-policy'), `${where}: RateLimit-Policy`).to.match(/^"\w+";q=\d+;w=\d+$/);
  }
  if (isApi(path) && status === 429) expect(Number(headers.get('retry-after')), `${where}: Retry-After`).to.be.at.least(1);
}

/** Whatever the contract does not know answers an envelope that says so. */
function checkUnknown({ method, path, status }: Exchange, body: unknown): void {
  if (status === 500 || method === 'HEAD' || method === 'OPTIONS') return;
  expect(body, `${method} ${path} answered ${status}`).to.be.an('object').that.includes({ defined: false, status });
}

/** better-auth serves these only to refuse them, with the answer of an unknown path. */
const turnedOff = new Set(['POST /api/auth/delete-user']);

function checkAuthError(body: unknown, status: number, where: string): { defined: boolean; code: string } {
  expect(body, where).to.be.an('object').that.includes({ status });
  const { defined, code, message, data } = body as Record<string, unknown>;
  expect(defined, `${where}: defined`).to.be.a('boolean');
  expect(code, `${where}: code`).to.match(/^[A-Z][A-Z0-9_]+$/);
  expect(message, `${where}: message`).to.be.a('string').and.not.equal('');
  if (code === 'LIMIT_REACHED') expect(data, `${where}: data`).to.be.an('object').with.all.keys('kind', 'limit', 'plan');
  return { defined: defined as boolean, code: code as string };
}

function record(operation: string, status: number, body: unknown): void {
  recordEntry({ operation, status, code: codeOf(body) });
}

function recordEntry(answer: { operation: string; status: number; code: string }): void {
  const entry = JSON.stringify(answer);
  if (recordDir === undefined || recorded.has(entry)) return;
  recorded.add(entry);
  appendFileSync(join(recordDir, `answers-${process.pid}.jsonl`), `${entry}\n`);
}

/** The code of an error, or of the few that have no envelope; `OK` for anything else. */
function codeOf(body: unknown): string {
  const { code, error, status } = (typeof body === 'object' && body !== null ? body : {}) as Record<string, unknown>;
  if (typeof code === 'string' && typeof status === 'number') return code;
  return isBare(body) ? String(error) : 'OK';
}

/** One of the few errors that have no envelope. */
function isBare(body: unknown): boolean {
  const { error, requestId } = (typeof body === 'object' && body !== null ? body : {}) as Record<string, unknown>;
  return typeof error === 'string' && requestId !== undefined;
}

function unwrap(body: unknown): unknown {
  return typeof body === 'object' && body !== null && 'json' in body ? body.json : body;
}

function isApi(path: string): boolean {
  return path.startsWith('/api/v1/') || path.startsWith('/rpc/');
}

function isAuth(path: string): boolean {
  return path.startsWith('/api/auth/');
}

function isLines(headers: Headers): boolean {
  return headers.get('content-type')?.startsWith('application/x-ndjson') ?? false;
}

function linesOf(body: unknown): string[] {
  return String(body).split('\n').filter(Boolean);
}

function isEventStream(headers: Headers): boolean {
  return headers.get('content-type')?.startsWith('text/event-stream') ?? false;
}
