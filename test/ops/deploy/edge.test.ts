import { type ChildProcess, spawn } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type Server } from 'node:http';
import { type RequestOptions, request } from 'node:https';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { expect } from 'chai';
import express from 'express';
import { parse } from 'yaml';
import { boundBodies } from '../../../api/http/body-time.ts';
import { requestContext } from '../../../api/http/request.ts';
import { findFreePorts } from '../../../ops/local/ports.ts';
import { acceptsConnection } from '../../../ops/local/temporal.ts';
import { makeCertificate } from '../../support/certificate.ts';
import { makeTestDirectory, removeTestDirectory } from '../../support/directories.ts';
import { findInstalled } from '../../support/installed.ts';
import { until } from '../../support/processes.ts';

const configuration = readFileSync('ops/deploy/nginx.conf', 'utf8');
const nginx = findInstalled('nginx');
const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;
const securityHeaders = {
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
  'cache-control': 'private, no-store',
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
};

describe('The configuration of the edge', () => {
  it('listens by IPv4 alone, as its network in compose has it: a kernel without IPv6 would not let it start', () => {
    const listens = ['plain.conf', 'tls.conf'].map((name) => readFileSync(join('ops/deploy/edge', name), 'utf8').match(/^listen .*$/gm));
    expect(listens).to.deep.equal([['listen 8080;'], ['listen 8443 ssl http2;']]);
    const { networks } = parse(readFileSync('docker-compose.yml', 'utf8'));
    for (const [name, network] of Object.entries(networks)) expect(network ?? {}, name).not.to.have.property('enable_ipv6');
  });
});

const openssl = findInstalled('openssl');

/** Where there is no nginx, what it does with the configuration is not seen: `apt-get install nginx-light openssl` brings one. */
if (nginx !== undefined) {
  describe('The edge', () => {
    let directory: string;
    let edge: ChildProcess;
    let behind: Server;
    let url: string;
    let port: number;
    const seen: { url: string; headers: IncomingHttpHeaders }[] = [];
    const log = () => readFileSync(join(directory, 'access.log'), 'utf8');
    const errors = () => readFileSync(join(directory, 'error.log'), 'utf8');

    before(async () => {
      directory = makeTestDirectory();
      const bounded = express().use(
        requestContext(true),
        boundBodies({ bytesPerSecond: 4_096, windowMs: 1_000 }),
        (req) => void req.resume(),
      );
      behind = createServer((request, response) => {
        seen.push({ url: request.url ?? '', headers: request.headers });
        if (request.url === '/drip') return bounded(request, response);
        request.resume();
        if (request.url?.startsWith('/hang')) return;
        if (request.url?.startsWith('/break')) return void request.socket.destroy();
        response.setHeader('X-Request-Id', String(request.headers['x-request-id']));
        response.statusCode = request.url?.startsWith('/fail') ? 500 : request.url?.startsWith('/absent') ? 404 : 200;
        request.on('end', () => response.end('{"from":"the API"}'));
      });
      await new Promise<void>((resolve) => behind.listen(0, '127.0.0.1', resolve));
      [port = 0] = await findFreePorts(1);
      url = `http://127.0.0.1:${port}`;
      edge = await startNginx(nginx, { directory, port, apiPort: (behind.address() as AddressInfo).port });
    });
    after(async () => {
      const ended = new Promise((resolve) => edge.once('exit', resolve));
      edge.kill('SIGTERM');
      await ended;
      behind.closeAllConnections();
      await new Promise((resolve) => behind.close(resolve));
      removeTestDirectory(directory);
    });

    /** Asserts that the edge itself answered, and returns the body and the id. */
    async function refused(response: Response, status: number): Promise<{ body: any; id: string }> {
      expect(response.status).to.equal(status);
      expect(Object.fromEntries(response.headers)).to.include({ ...securityHeaders, 'content-type': 'application/json' });
      return { body: await response.json(), id: response.headers.get('x-request-id') ?? '' };
    }

    it('gives a request an id that the API and the log know, too', async () => {
      const mine = await fetch(`${url}/healthz`, { headers: { 'x-request-id': 'my.own_id-1' } });
      expect(mine.headers.get('x-request-id')).to.equal('my.own_id-1');
      const fresh = await fetch(`${url}/healthz`, { headers: { 'x-request-id': 'not "well" formed' } });
      const id = fresh.headers.get('x-request-id') ?? '';
      expect(id).to.match(uuid);
      expect(seen.at(-1)?.headers['x-request-id']).to.equal(id);
      await until(() => log().includes(id));
      expect(log()).to.match(new RegExp(`GET /healthz 200 \\d+ [\\d.]+ ${id} 127.0.0.1:\\d+ 200\\n`));
    });

    it('tells the API the address of the connection, whatever the client claims, if no proxy is named', async () => {
      await fetch(`${url}/healthz`, { headers: { 'x-forwarded-for': '203.0.113.7', 'x-forwarded-proto': 'https' } });
      expect(seen.at(-1)?.headers).to.include({ 'x-forwarded-for': '127.0.0.1', 'x-forwarded-proto': 'http' });
    });

    it('leaves errors of the API as they are', async () => {
      for (const [path, status] of [['/fail', 500] as const, ['/absent', 404] as const]) {
        const failed = await fetch(`${url}${path}`);
        expect([failed.status, await failed.text()]).to.deep.equal([status, '{"from":"the API"}']);
      }
    });

    for (const [path, bytes, error] of [
      ['/api/v1/workspaces', 1_000_001, 'payload_too_large'],
      ['/rpc/workspaces/create', 1_000_001, 'payload_too_large'],
      ['/api/auth/sign-in/email', 1_000_001, 'payload_too_large'],
      ['/uploads/organization/document?signature=key', 32_000_001, 'too_large'],
    ] as const)
      it(`refuses ${bytes} bytes at ${path.split('?')[0]} in the form of the route`, async () => {
        const headers = { 'x-request-id': 'id-of-the-client' };
        const { body, id } = await refused(await fetch(`${url}${path}`, { method: 'PUT', headers, body: Buffer.alloc(bytes) }), 413);
        expect(body).to.deep.equal({ error, requestId: 'id-of-the-client' });
        expect(id).to.equal('id-of-the-client');
      });

    it('leaves the refusal of a body that arrives a byte at a time to the API', async () => {
      const { socket, received } = await drip('/drip', 100);
      expect(await received)
        .to.match(/^HTTP\/1\.1 408 /)
        .and.include('"too_slow"');
      expect(socket.destroyed).to.equal(true);
    });

    it('closes the connection of a body that stops arriving, but not of an upload, whose pauses the API bounds', async () => {
      const [upload, other] = await Promise.all([drip('/uploads/x/y'), drip('/api/v1/x')]);
      expect(await other.received).to.equal('');
      expect(upload.socket.destroyed).to.equal(false);
      upload.socket.destroy();
      await upload.received.catch(() => {});
    });

    it('refuses more requests of one address at once, and takes one again after the first has ended', async () => {
      const left = new AbortController();
      const held = Array.from({ length: 5 }, (_, i) => fetch(`${url}/hang/${i}`, { signal: left.signal }));
      await until(() => seen.filter((request) => request.url.startsWith('/hang/')).length === 5);
      const response = await fetch(`${url}/healthz`);
      expect(response.headers.get('retry-after')).to.equal('2');
      expect((await refused(response, 429)).body).to.include({ code: 'TOO_MANY_REQUESTS', status: 429, defined: false });
      for (const path of ['/rpc/jobs/stream', '/api/v1/organizations/x/jobs/stream'])
        expect((await fetch(`${url}${path}`)).status).to.equal(200);
      left.abort();
      await Promise.allSettled(held);
      await until(async () => (await fetch(`${url}/healthz`)).status === 200);
    });

    /** Begins a request with a body, and goes on with a byte at a time, or not at all. `received` is all that comes back. */
    async function drip(path: string, everyMs?: number): Promise<{ socket: Socket; received: Promise<string> }> {
      const socket = connect(port, '127.0.0.1');
      const received = text(socket);
      socket.write(`PUT ${path} HTTP/1.1\r\nHost: a\r\nConnection: close\r\nContent-Length: 100\r\n\r\n{`);
      const timer = everyMs === undefined ? undefined : setInterval(() => socket.writable && socket.write(' '), everyMs);
      socket.on('error', () => {}).once('close', () => clearInterval(timer));
      await until(() => seen.some((request) => request.url === path));
      return { socket, received };
    }

    it('passes on what is just small enough', async () => {
      for (const [path, bytes] of [['/api/v1/x', 1_000_000] as const, ['/uploads/x/y', 32_000_000] as const]) {
        expect((await fetch(`${url}${path}`, { method: 'PUT', body: Buffer.alloc(bytes) })).status, path).to.equal(200);
      }
    });

    it('tells of an API that breaks off or does not answer', async () => {
      const broken = await refused(await fetch(`${url}/break`), 502);
      expect(broken.body).to.deep.equal({ error: 'bad_gateway', requestId: broken.id });
      expect(broken.id).to.match(uuid);
      const late = await refused(await fetch(`${url}/hang`), 504);
      expect(late.body).to.deep.equal({ error: 'gateway_timeout', requestId: late.id });
    });

    it('answers what is no request in the form of the API', async () => {
      for (const request of [
        'nonsense\r\n\r\n',
        'GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n',
        `GET /${'x'.repeat(40_000)} HTTP/1.1\r\n\r\n`,
        `GET /${'x'.repeat(2_000)} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n`,
        'GET /api/auth//ok HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n',
        'GET /api/auth/\\/ok HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n',
        'PUT /uploads//a HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n',
      ]) {
        const [head = '', body = ''] = (await sendRaw(port, request)).split('\r\n\r\n');
        expect(head)
          .to.match(/^HTTP\/1\.1 400 /)
          .and.match(/\r\nX-Request-Id: [0-9a-f-]{36}(\r\n|$)/);
        expect(JSON.parse(body)).to.include({ code: 'BAD_REQUEST', status: 400, defined: false });
      }
    });

    it('has nothing at the path that it uses for itself, and says so as the API does', async () => {
      const nothing = { defined: false, code: 'NOT_FOUND', status: 404, message: 'There is nothing at this path.' };
      const headers = { 'x-request-id': 'id-of-the-client' };
      for (const method of ['GET', 'POST']) {
        const { body, id } = await refused(await fetch(`${url}/not-http`, { method, headers }), 404);
        expect(body).to.deep.equal(nothing);
        expect(id).to.equal('id-of-the-client');
      }
      const fresh = await refused(await fetch(`${url}/not-http?token=x`), 404);
      expect(fresh.id).to.match(uuid);
    });

    it('logs no token: not of a reset link, an invitation, a verification or an upload, refused or not', async () => {
      const paths = [
        '/api/auth/reset-password/TOKEN?callbackURL=x',
        '/api/auth//reset%2Dpassword/TOKEN',
        '/api/auth/verify-email?token=TOKEN',
        '/accept-invitation/TOKEN',
        '/uploads/organization/document?signature=TOKEN',
        '/break?signature=TOKEN',
        '/api/auth/reset-password/TOKEN/%zz',
      ];
      for (const path of paths) await (await fetch(`${url}${path}`)).text();
      await (await fetch(`${url}/uploads/organization/document?signature=TOKEN`, { method: 'PUT', body: Buffer.alloc(32_000_001) })).text();
      await (await fetch(`${url}/healthz`, { headers: { referer: 'https://x/TOKEN', 'x-request-id': 'the-last' } })).text();
      await until(() => log().includes('the-last'));
      expect(log()).to.include('GET /api/auth/reset-password/:token 200').and.include('PUT /uploads/organization/document 413');
      expect(log() + errors()).not.to.include('TOKEN');
    });
  });
}

if (nginx !== undefined && openssl !== undefined) {
  describe('The edge with TLS, behind one more proxy', () => {
    let directory: string;
    let edge: ChildProcess;
    let behind: Server;
    let port: number;
    let ca: Buffer;
    let seen: IncomingHttpHeaders = {};
    let hanging = 0;

    before(async () => {
      directory = makeTestDirectory();
      mkdirSync(directory, { recursive: true });
      ca = await makeCertificate(openssl, directory);
      behind = createServer((request, response) => {
        seen = request.headers;
        request.resume();
        if (request.url === '/hang') hanging += 1;
        else request.on('end', () => response.end('{"from":"the API"}'));
      });
      await new Promise<void>((resolve) => behind.listen(0, '127.0.0.1', resolve));
      [port = 0] = await findFreePorts(1);
      const apiPort = (behind.address() as AddressInfo).port;
      edge = await startNginx(nginx, { directory, port, apiPort, listen: 'tls.conf', proxies: 'set_real_ip_from 127.0.0.1;' });
    });
    after(async () => {
      const ended = new Promise((resolve) => edge.once('exit', resolve));
      edge.kill('SIGTERM');
      await ended;
      behind.closeAllConnections();
      await new Promise((resolve) => behind.close(resolve));
      removeTestDirectory(directory);
    });

    async function ask(path: string, options: RequestOptions = {}, body?: Buffer): Promise<{ response: IncomingMessage; body: any }> {
      const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
      const sent = request({ host: '127.0.0.1', servername: 'localhost', port, path, ca, agent: false, ...options }, resolve);
      sent.on('error', reject).end(body);
      const response = await promise;
      return { response, body: JSON.parse(await text(response)) };
    }

    it('passes requests on, tells the API so, and has browsers come by TLS again', async () => {
      const { response, body } = await ask('/api/v1/me');
      expect([response.statusCode, body]).to.deep.equal([200, { from: 'the API' }]);
      expect(response.headers['strict-transport-security']).to.equal('max-age=31536000');
      expect(seen['x-forwarded-proto']).to.equal('https');
    });

    it('refuses a request without TLS in the form of the API', async () => {
      const [head = '', body = ''] = (await sendRaw(port, 'GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n')).split('\r\n\r\n');
      expect(head).to.match(/^HTTP\/1\.1 400 /);
      expect(JSON.parse(body)).to.include({ code: 'BAD_REQUEST', status: 400 });
    });

    for (const [claimed, address] of [
      ['203.0.113.7', '203.0.113.7'],
      ['198.51.100.1, 203.0.113.7', '203.0.113.7'],
      ['203.0.113.7, 127.0.0.1', '203.0.113.7'],
      ['2001:db8::7', '2001:db8::7'],
      ['nonsense', '127.0.0.1'],
    ] as const)
      it(`tells the API one address, ${address}, if the proxy before it says ${claimed}`, async () => {
        await ask('/api/v1/me', { headers: { 'x-forwarded-for': claimed } });
        expect(seen['x-forwarded-for']).to.equal(address);
      });

    for (const [network, inside, outside] of [
      ['an IPv4 address', ['203.0.113.7', '203.0.113.7'], ['203.0.113.8']],
      ['a /64', ['2001:db8:1:2::7', '2001:db8:1:2:3:4:5:6', '2001:db8:1:2:3::'], ['2001:db8:1:3::7', '2001:db8:1:22::7']],
      ['a /64 that ends with zeros', ['2001:db8::7', '2001:db8:0:0:8::', '2001:db8:0:0:1:1:1:1'], ['2001:db8:0:1::7', '2001:db8:7::7']],
    ] as const)
      it(`counts ${network} as one client`, async () => {
        const headersOf = (address: string) => ({ headers: { 'x-forwarded-for': address } });
        const before = hanging;
        const left = new AbortController();
        const held = Array.from({ length: 5 }, (_, place) => {
          const from = headersOf(inside[place % inside.length] ?? '');
          return ask('/hang', { ...from, signal: left.signal });
        });
        await until(() => hanging === before + 5);
        for (const address of inside) expect((await ask('/healthz', headersOf(address))).response.statusCode, address).to.equal(429);
        for (const address of outside) expect((await ask('/healthz', headersOf(address))).response.statusCode, address).to.equal(200);
        left.abort();
        await Promise.allSettled(held);
      });
  });
}

interface EdgeOptions {
  directory: string;
  port: number;
  apiPort: number;
  /** A file of ops/deploy/edge. */
  listen?: string;
  proxies?: string;
}

/** Runs nginx with ops/deploy/nginx.conf and a file of ops/deploy/edge, their places replaced by those of a test. */
async function startNginx(
  command: string,
  { directory, port, apiPort, listen = 'plain.conf', proxies }: EdgeOptions,
): Promise<ChildProcess> {
  mkdirSync(directory, { recursive: true });
  const write = (name: string, content: string, replaced: [string | RegExp, string][]) =>
    writeFileSync(join(directory, name), replaceEach(content, replaced));
  write('nginx.conf', configuration, [
    ['worker_processes auto;', 'worker_processes 1;\ndaemon off;'],
    [/\/tmp\//g, `${directory}/`],
    [/\/dev\/stderr/g, join(directory, 'error.log')],
    ['/dev/stdout', join(directory, 'access.log')],
    [/\/etc\/nginx\/edge\//g, `${directory}/`],
    ['http://api:3000', `http://127.0.0.1:${apiPort}`],
    ['proxy_read_timeout 90s;', 'proxy_read_timeout 3s;'],
    ['client_body_timeout 15s;', 'client_body_timeout 1s;'],
    ['limit_conn addresses 200;', 'limit_conn addresses 5;'],
  ]);
  write('listen.conf', readFileSync(join('ops/deploy/edge', listen), 'utf8'), [
    [/listen (8080|8443)/, `listen 127.0.0.1:${port}`],
    ...(listen === 'tls.conf' ? ([[/\/run\/secrets\//g, `${directory}/`]] as [RegExp, string][]) : []),
  ]);
  writeFileSync(join(directory, 'proxies.conf'), proxies ?? readFileSync('ops/deploy/edge/proxies.conf', 'utf8'));
  const file = join(directory, 'nginx.conf');
  const child = spawn(command, ['-p', directory, '-c', file, '-e', join(directory, 'error.log')], { stdio: ['ignore', 'ignore', 'pipe'] });
  let said = '';
  child.stderr.setEncoding('utf8').on('data', (chunk: string) => (said += chunk));
  await until(async () => {
    if (child.exitCode !== null) throw new Error(`nginx does not start: ${said}`);
    return await acceptsConnection(port);
  });
  return child;
}

/** Throws if something is not there to be replaced. */
function replaceEach(content: string, replaced: [string | RegExp, string][]): string {
  return replaced.reduce((text, [from, to]) => {
    expect(text).to.match(typeof from === 'string' ? new RegExp(RegExp.escape(from)) : from);
    return text.replace(from, to);
  }, content);
}

async function sendRaw(port: number, request: string): Promise<string> {
  const socket = connect(port, '127.0.0.1');
  socket.write(request);
  return await text(socket);
}
