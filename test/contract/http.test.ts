import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { expect } from 'chai';
import { sql } from 'kysely';
import { buildOpenApi } from '../../contract/openapi.ts';
import { startTestApi, type TestApi } from '../support/api.ts';
import { sendRaw } from '../support/send-raw.ts';
import { staysTrue } from '../support/stays-true.ts';
import { callOver, transports } from '../support/transports.ts';
import { useApi } from '../support/use-api.ts';

const trusted = 'http://localhost:5173';
const stranger = 'https://evil.example.com';

describe('The HTTP edge', () => {
  const { api, tenant } = useApi({ env: { WORKER_ENABLED: 'false' } });
  let cookie: string;

  before(async () => {
    const credentials = { email: tenant.owner.email, password: 'a long password' };
    const signedIn = await api.request('POST', '/api/auth/sign-in/email', { body: credentials });
    cookie = signedIn.headers
      .getSetCookie()
      .map((line) => line.split(';')[0])
      .join('; ');
  });

  describe('serves the OpenAPI document', () => {
    it('as the contract makes it, to anyone, without a session', async () => {
      const { status, headers, body } = await api.request('GET', '/api/v1/openapi.json');
      expect(status).to.equal(200);
      expect(headers.get('cache-control')).to.equal('no-cache');
      expect(body).to.deep.equal(JSON.parse(JSON.stringify(buildOpenApi({ cookieName: 'better-auth.session_token' }))));
      expect(body.info.version)
        .to.equal((await api.request('GET', '/api/v1/health')).body.version)
        .and.to.equal('0.3.0');
    });

    it('once to who has it already', async () => {
      const { headers } = await api.request('GET', '/api/v1/openapi.json');
      const etag = headers.get('etag') ?? '';
      expect(etag).to.match(/^"[\w-]+"$/);
      for (const known of [etag, `W/${etag}`, `"other", ${etag}`, '*']) {
        const again = await api.request('GET', '/api/v1/openapi.json', { headers: { 'if-none-match': known } });
        expect(again.status, known).to.equal(304);
        expect(again.body).to.equal('');
        expect(again.headers.get('etag')).to.equal(etag);
        expect(again.headers.get('cache-control')).to.equal('no-cache');
      }
      for (const other of ['"other"', etag.slice(1, -1), 'W/"other"']) {
        const again = await api.request('GET', '/api/v1/openapi.json', { headers: { 'if-none-match': other } });
        expect(again.status, other).to.equal(200);
      }
      const head = await api.request('HEAD', '/api/v1/openapi.json');
      expect([head.status, head.headers.get('etag')]).to.deep.equal([200, etag]);
    });
  });

  it("gives each request an id: the client's own when it is well-formed, or a new one", async () => {
    const idFor = async (id: string) =>
      (await api.request('GET', '/healthz', { headers: { 'x-request-id': id } })).headers.get('x-request-id');
    for (const id of ['a', 'A.b_c-9', 'x'.repeat(128)]) expect(await idFor(id)).to.equal(id);
    for (const id of ['x'.repeat(129), 'with space', 'ümlaut', 'semi;colon', ''])
      expect(await idFor(id)).to.match(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
  });

  it('answers probes without the headers of the API', async () => {
    for (const path of ['/healthz', '/readyz']) {
      const { status, headers } = await api.request('GET', path);
      expect(status).to.equal(200);
      expect(headers.get('cache-control')).to.equal(null);
      expect(headers.get('content-security-policy')).to.equal(null);
    }
  });

  it('puts its headers on what sign-in answers, errors included', async () => {
    const found = await api.request('GET', '/api/auth/get-session');
    const wrong = { email: 'nobody@example.com', password: 'wrong password' };
    const refused = await api.request('POST', '/api/auth/sign-in/email', { body: wrong });
    expect([found.status, refused.status]).to.deep.equal([200, 401]);
    for (const { headers } of [found, refused]) expect(headers.get('content-security-policy')).to.include("default-src 'none'");
  });

  describe('lets browsers of trusted origins in', () => {
    it('with credentials, over both transports, and shows them the token of a sign-in', async () => {
      for (const origin of [trusted, 'tauri://localhost', 'http://tauri.localhost']) {
        for (const path of ['/api/v1/me', '/api/v1/nothing', '/api/v1/openapi.json']) {
          const { headers } = await api.request('GET', path, { headers: { origin } });
          expect(headers.get('access-control-allow-origin'), path).to.equal(origin);
          expect(headers.get('access-control-allow-credentials'), path).to.equal('true');
          expect(headers.get('access-control-expose-headers'), path).to.include('set-auth-token').and.to.include('WWW-Authenticate');
        }
      }
    });

    it('and answers their preflights', async () => {
      for (const path of ['/api/v1/workspaces/abc', '/rpc/jobs/create', '/api/auth/sign-in/email']) {
        const headers = { origin: trusted, 'access-control-request-method': 'PATCH', 'access-control-request-headers': 'last-event-id' };
        const preflight = await api.request('OPTIONS', path, { headers });
        expect(preflight.status).to.equal(204);
        expect(preflight.headers.get('access-control-allow-methods')).to.include('PATCH');
        expect(preflight.headers.get('access-control-allow-headers')?.toLowerCase())
          .to.include('last-event-id')
          .and.to.include('stream-id')
          .and.to.include('authorization')
          // Of MCP's clients.
          .and.to.include('mcp-protocol-version');
        expect(preflight.headers.get('access-control-allow-origin')).to.equal(trusted);
      }
    });

    it('and no others', async () => {
      for (const origin of [stranger, 'null', `${trusted}.example.com`, 'http://localhost:51730']) {
        const answer = await api.request('GET', '/api/v1/health', { headers: { origin } });
        expect(answer.headers.get('access-control-allow-origin'), origin).to.equal(null);
        const preflight = await api.request('OPTIONS', '/api/v1/workspaces', {
          headers: { origin, 'access-control-request-method': 'POST' },
        });
        expect(preflight.headers.get('access-control-allow-origin'), origin).to.equal(null);
        expect(preflight.headers.get('access-control-allow-methods'), origin).to.equal(null);
      }
    });
  });

  describe('takes a cookie', () => {
    const input = () => ({ organizationId: tenant.organizationId, name: 'By cookie', slug: `s-${Math.random().toString(36).slice(2)}` });

    it('and sends it again when the session is extended', async () => {
      const calls = [
        () => api.request('GET', '/api/v1/me', { headers: { cookie } }),
        () => api.rpc('account.me', {}, { headers: { cookie } }),
      ];
      for (const call of calls) {
        await sql`update session set "createdAt" = now() - interval '25 hours', "expiresAt" = now() + interval '5 days 23 hours'
          where "userId" = ${tenant.owner.id}`.execute(api.database.db);
        expect((await call()).headers.getSetCookie().map((sent) => sent.split(';')[0])).to.deep.equal([cookie]);
        expect((await call()).headers.getSetCookie()).to.deep.equal([]);
      }
    });

    it('like a bearer token', async () => {
      expect((await api.request('GET', '/api/v1/me', { headers: { cookie } })).body.id).to.equal(tenant.owner.id);
      expect((await api.rpc('account.me', {}, { headers: { cookie } })).body.json.id).to.equal(tenant.owner.id);
    });

    it('to write from trusted origins, from the API itself, and from what is no browser', async () => {
      for (const origin of [trusted, new URL(api.url).origin, undefined]) {
        const headers = { cookie, ...(origin ? { origin } : {}) };
        expect((await api.request('POST', '/api/v1/workspaces', { headers, body: input() })).status, origin).to.equal(200);
      }
    });

    it('to write from no other origin, over either transport', async () => {
      const database = api.database.db;
      const before = await database.selectFrom('workspace').select('id').execute();
      for (const origin of [stranger, 'null']) {
        const headers = { cookie, origin };
        const rest = await api.request('POST', '/api/v1/workspaces', { headers, body: input() });
        const rpc = await api.rpc('workspaces.create', input(), { headers });
        for (const body of [rest.body, rpc.body.json]) {
          expect(body).to.include({ status: 403, code: 'FORBIDDEN', defined: true });
          expect(body.message).to.include(`The origin ${origin} is not trusted`);
        }
        const read = await api.rpc('account.me', {}, { headers });
        expect(read.body.json).to.include({ status: 403, code: 'FORBIDDEN', defined: true });
        expect((await api.request('GET', '/api/v1/me', { headers })).status).to.equal(200);
      }
      expect(await database.selectFrom('workspace').select('id').execute()).to.deep.equal(before);
    });

    it('of any origin where an operation is public, over both transports', async () => {
      const message = { email: 'a@example.com', message: 'How are you?', website: 'x' };
      for (const [operation, input] of Object.entries({ 'system.health': {}, 'system.authConfig': {}, 'contact.send': message }))
        for (const transport of transports)
          for (const headers of [
            { cookie, origin: stranger },
            { cookie: 'theme=dark', origin: 'null' },
          ])
            expect((await callOver(api, transport, operation, input, { headers })).status, `${operation} ${transport}`).to.equal(200);
    });

    it('for nothing if a bearer token comes with it that does not hold, over both transports', async () => {
      for (const authorization of [`Bearer x${tenant.owner.token}`, 'Bearer token', 'Bearer']) {
        const headers = { cookie, authorization };
        expect((await api.request('GET', '/api/v1/me', { headers })).body, authorization).to.include({ status: 401, code: 'UNAUTHORIZED' });
        expect((await api.rpc('account.me', {}, { headers })).body.json, authorization).to.include({ status: 401, code: 'UNAUTHORIZED' });
        expect((await api.request('GET', '/api/v1/health', { headers })).status, authorization).to.equal(200);
      }
    });

    it('is not needed with a bearer token, whatever the origin', async () => {
      const { token } = tenant.owner;
      expect((await api.request('POST', '/api/v1/workspaces', { token, headers: { origin: stranger }, body: input() })).status).to.equal(
        200,
      );
    });
  });

  it('answers HEAD as GET without a body, and holds no stream open for it', async () => {
    const { token } = tenant.owner;
    const me = await api.request('HEAD', '/api/v1/me', { token });
    expect([me.status, me.body]).to.deep.equal([200, '']);
    expect((await api.request('HEAD', '/api/v1/me')).status).to.equal(401);
    const path = `/api/v1/organizations/${tenant.organizationId}/jobs/stream`;
    for (let count = 0; count < 5; count++) expect((await api.request('HEAD', path, { token })).status).to.equal(200);
    const abort = new AbortController();
    const stream = await fetch(`${api.url}${path}`, { headers: { authorization: `Bearer ${token}` }, signal: abort.signal });
    let open = true;
    const ended = stream.text().then(
      () => (open = false),
      () => (open = false),
    );
    await staysTrue(() => open, 500);
    abort.abort();
    await ended;
  });

  /** What comes back when bytes are sent as they are, until the API closes the connection. */
  async function exchange(bytes: string, { end = true } = {}): Promise<string> {
    const { port, hostname } = new URL(api.url);
    const socket = connect(Number(port), hostname);
    socket.write(bytes);
    if (end) socket.end();
    return await text(socket);
  }

  describe('tells a client that waits with its body', () => {
    const ask = (path: string, bytes: number, connection = 'keep-alive') => {
      const headers = ['Host: localhost', 'Content-Type: application/json', `Authorization: Bearer ${tenant.owner.token}`];
      const framing = [`Content-Length: ${bytes}`, 'Expect: 100-continue', `Connection: ${connection}`];
      return [`POST ${path} HTTP/1.1`, ...headers, ...framing, '', ''].join('\r\n');
    };

    for (const path of ['/api/v1/workspaces', '/rpc/workspaces/create', '/api/auth/sign-in/email']) {
      it(`to send it to ${path}`, async () => {
        expect(await exchange(`${ask(path, 2, 'close')}{}`, { end: false })).to.match(/^HTTP\/1.1 100 Continue\r\n\r\nHTTP\/1.1 400 /);
      });
    }

    for (const [path, bytes] of [
      ['/api/v1/workspaces', 1_100_000],
      ['/rpc/workspaces/create', 1_100_000],
      ['/api/auth/sign-in/email', 70_000],
    ] as const)
      it(`that ${bytes} bytes are too many for ${path}, and takes nothing more on the connection`, async () => {
        const answer = await exchange(`${ask(path, bytes)}${ask(path, 0)}`, { end: false });
        expect(answer)
          .to.match(/^HTTP\/1.1 413 .*\r\nConnection: close\r\n/s)
          .and.not.match(/HTTP\/1.1 (?!413)/);
      });
  });

  describe('takes a target in absolute form', () => {
    const ask = async (method: string, target: string, body = '') => {
      const { hostname, port } = new URL(api.url);
      const headers = { host: 'other.example.com', authorization: `Bearer ${tenant.owner.token}`, 'content-type': 'application/json' };
      const sent = request({ hostname, port, method, path: target, headers, agent: false }).end(body);
      const [response] = (await once(sent, 'response')) as [IncomingMessage];
      return { status: response.statusCode, body: JSON.parse(await text(response)) };
    };

    for (const root of ['http://x', 'HTTPS://api.example.com:8080', 'http://[::1]:3000'])
      it(`as the path in it: ${root}`, async () => {
        const health = await ask('POST', `${root}/rpc/system/health`, '{}');
        expect([health.status, health.body.json.status]).to.deep.equal([200, 'ok']);
        expect((await ask('GET', `${root}/api/v1/me?x=http://y/`)).body.id).to.equal(tenant.owner.id);
        expect((await ask('GET', `${root}/api/auth/get-session`)).body.user.id).to.equal(tenant.owner.id);
        const refused = await ask('POST', `${root}/api/v1/workspaces`, '{}');
        expect([refused.status, refused.body.defined]).to.deep.equal([400, true]);
        expect((await ask('GET', `${root}/healthz`)).status).to.equal(200);
        for (const end of ['', '?x']) expect((await ask('GET', `${root}${end}`)).body).to.include({ code: 'NOT_FOUND' });
      });

    it('also of a client that waits with its body', async () => {
      const head = 'PUT http://x/uploads/a/b HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 0\r\n\r\n';
      expect(await exchange(head, { end: false })).to.match(/^HTTP\/1.1 403 .*invalid_signature/s);
    });
  });

  it('answers OPTIONS that is no preflight as any other method that there is not', async () => {
    const { token } = tenant.owner;
    for (const path of ['/api/v1/me', '/api/v1/nothing', '/healthz', '/docs', '/', '/uploads/a/b']) {
      const { status, headers, body } = await api.request('OPTIONS', path, { token });
      expect([status, body], path).to.deep.equal([
        404,
        { defined: false, code: 'NOT_FOUND', status: 404, message: 'There is nothing at this path.' },
      ]);
      expect(headers.get('allow'), path).to.equal(null);
    }
    expect((await api.request('OPTIONS', '/rpc/account/me', { token })).body.json).to.include({ code: 'NOT_FOUND', defined: false });
  });

  describe('answers what is no HTTP', () => {
    const noHost = 'The request must say which host it is for: send `Host`.';
    const refused: [what: string, head: string, message: string, name?: string][] = [
      ['no host', 'GET /api/v1/health HTTP/1.1', noHost, 'Host'],
      ['no host of a probe', 'GET /healthz HTTP/1.1', noHost, 'Host'],
      ['a host twice', 'GET /api/v1/health HTTP/1.1\r\nHost: a\r\nhost: b', 'The request must say once which host it is for.', 'Host'],
      ['a long path', `GET /api/auth/${'x'.repeat(1_991)} HTTP/1.1\r\nHost: a`, 'A path has at most 2000 characters.', 'path'],
      ['an empty part of a path', `GET /api/auth/${'/'.repeat(1_900)}x HTTP/1.1\r\nHost: a`, 'No part of a path is empty.', 'path'],
      ['one as a URL reads it', 'GET /rpc\\/x HTTP/1.1\r\nHost: a', 'No part of a path is empty.', 'path'],
      [
        'an unknown expectation',
        'POST /api/v1/contact HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\nExpect: foo',
        'Nothing but `Expect: 100-continue` is understood.',
        'Expect',
      ],
      ['a broken header', 'GET / HTTP/1.1\r\nno header', 'The request is not valid HTTP.'],
      ['large headers', `GET / HTTP/1.1\r\nX-Long: ${'a'.repeat(40_000)}`, 'The headers of the request are too large.'],
    ];
    for (const [what, head, message, name] of refused)
      it(`because of ${what}, with the headers of every error`, async () => {
        const answer = await exchange(`${head}\r\nConnection: close\r\n\r\n`, { end: name === undefined });
        expect(answer).to.match(/^HTTP\/1.1 400 Bad Request\r\n/);
        expect(answer).to.match(/\r\nX-Request-Id: [0-9a-f-]{36}\r\n/);
        if (name) expect(answer).to.include("\r\nContent-Security-Policy: default-src 'none'; frame-ancestors 'none'\r\n");
        expect(JSON.parse(answer.split('\r\n\r\n')[1] ?? '')).to.deep.equal({
          ...{ defined: false, code: 'BAD_REQUEST', status: 400, message },
          data: { issues: name ? [{ path: [name], message }] : [] },
        });
      });

    it('as the procedure transport wraps it', async () => {
      const answer = await exchange('POST /rpc/system/health HTTP/1.1\r\nConnection: close\r\n\r\n', { end: false });
      expect(JSON.parse(answer.split('\r\n\r\n')[1] ?? '').json).to.include({ code: 'BAD_REQUEST', status: 400 });
    });

    it('but not HTTP/1.0 without a host', async () => {
      expect(await exchange('GET /api/v1/health HTTP/1.0\r\n\r\n', { end: false })).to.match(/^HTTP\/1.1 200 /);
    });

    it('because of no version', async () => {
      const answer = await exchange('GET /api/v1/health\r\n\r\n', { end: false });
      expect(answer).to.match(/^HTTP\/1.1 400 Bad Request\r\n/);
      expect(JSON.parse(answer.split('\r\n\r\n')[1] ?? '')).to.include({ code: 'BAD_REQUEST', status: 400 });
    });
  });
});

describe('The address of a client', () => {
  const limited = { RATE_LIMIT_PER_MINUTE: '3', WORKER_ENABLED: 'false' };

  async function remaining(api: TestApi, forwarded: string | undefined): Promise<number> {
    const headers: Record<string, string> = forwarded === undefined ? {} : { 'x-forwarded-for': forwarded };
    const { headers: answered } = await sendRaw(api, { method: 'GET', path: '/api/v1/health', headers });
    return Number(/r=(\d+)/.exec(answered.get('ratelimit') ?? '')?.[1]);
  }

  it('behind a trusted proxy is the one that it forwards, and only when it is one', async () => {
    const api = await startTestApi({ env: { ...limited, TRUST_PROXY: 'true' } });
    try {
      expect(await remaining(api, '203.0.113.1')).to.equal(2);
      expect(await remaining(api, '203.0.113.1')).to.equal(1);
      expect(await remaining(api, '203.0.113.2')).to.equal(2);
      expect(await remaining(api, '2001:db8::1')).to.equal(2);
      expect(await remaining(api, '::ffff:203.0.113.1')).to.equal(0);
      // One family of proxies writes the port, too.
      expect(await remaining(api, '203.0.113.5:49152')).to.equal(2);
      expect(await remaining(api, '203.0.113.5:49153')).to.equal(1);
      expect(await remaining(api, '203.0.113.5')).to.equal(0);
      // An IPv6 address counts by its /64.
      expect(await remaining(api, '[2001:db8:0:1::1]:49152')).to.equal(2);
      expect(await remaining(api, '[2001:db8:0:1::2]')).to.equal(1);
      expect(await remaining(api, '2001:db8:0:1:f::3')).to.equal(0);
      // What follows is counted on the connection's own address.
      expect(await remaining(api, undefined)).to.equal(2);
      expect(await remaining(api, '203.0.113.9, 203.0.113.2')).to.equal(1);
      expect(await remaining(api, '203.0.113.9:0x1')).to.equal(0);
    } finally {
      await api.stop();
    }
  });

  it("without one is the connection's own, whatever it claims", async () => {
    const api = await startTestApi({ env: limited });
    try {
      expect(await remaining(api, '203.0.113.1')).to.equal(2);
      expect(await remaining(api, '203.0.113.2')).to.equal(1);
    } finally {
      await api.stop();
    }
  });
});
