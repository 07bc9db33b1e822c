import { gzipSync } from 'node:zlib';
import { expect } from 'chai';
import { sql } from 'kysely';
import { Semaphore } from '../../base/concurrency/semaphore.ts';
import { errorCodes } from '../../contract/errors.ts';
import { routes } from '../../contract/index.ts';
import type { AnyRoute } from '../../contract/route.ts';
import { useBounds } from '../api/support/use-bounds.ts';
import { type Answer, startTestApi, type TestApi, type TestUser } from '../support/api.ts';
import { createKey, type TestKey } from '../support/api-keys.ts';
import { createTestDatabase } from '../support/database.ts';
import { until } from '../support/processes.ts';
import { type RawRequest, sendRaw } from '../support/send-raw.ts';
import { startDatabaseProxy, type TcpProxy } from '../support/tcp-proxy.ts';
import { type Transport, transports } from '../support/transports.ts';
import { useApi } from '../support/use-api.ts';
import { askedOver } from './support/asked.ts';

const mebibyte = 1024 * 1024;
const json = { 'content-type': 'application/json' };

describe('Errors', () => {
  const { api } = useApi({ env: { WORKER_ENABLED: 'false' } });
  let platformAdmin: TestUser;
  let key: TestKey;

  before(async () => {
    key = await createKey(api, await api.createTenant());
    platformAdmin = await api.signUp();
    await api.makePlatformAdmin(platformAdmin);
  });

  it('of a path that nothing serves are NOT_FOUND, and not one that an operation declares', async () => {
    const paths = ['/', '/api', '/api/v1', '/api/v1/nothing', '/api/v1/jobs/1/2/3', '/api/v1/ME', '/api/v1/me/', '/apis', '/uploads/a'];
    for (const path of paths) {
      const { body } = await api.request('GET', path);
      expect(body, path).to.deep.equal({ defined: false, code: 'NOT_FOUND', status: 404, message: 'There is nothing at this path.' });
    }
    expect((await api.request('POST', '/api/v1/me')).body).to.include({ code: 'NOT_FOUND', defined: false });
    for (const [method, path] of [
      ['POST', '/rpc/nothing'],
      ['POST', '/rpc/jobs'],
      ['POST', '/rpc/account/me/'],
      ['POST', '/rpc/account%2Fme'],
      ['GET', '/rpc/account/me'],
    ] as const) {
      expect((await api.request(method, path)).body.json, `${method} ${path}`).to.include({ code: 'NOT_FOUND', defined: false });
    }
  });

  it('of a broken percent-encoding are BAD_REQUEST', async () => {
    const { token } = platformAdmin;
    const { status, body } = await api.request('GET', '/api/v1/documents/%E0%A4%A', { token });
    expect({ status, ...body }).to.include({ status: 400, code: 'BAD_REQUEST', defined: true });
    expect(body.data.issues).to.deep.equal([{ path: ['path'], message: 'The path has a broken percent-encoding.' }]);
  });

  it('of a query that is no UTF-8 are BAD_REQUEST, once the caller is known', async () => {
    const { token } = platformAdmin;
    for (const query of ['search=%ff', 'search=%ED%A0%80', 'search=%C0%AF', 'search=50%', 'offset=0&%E2%82=x', 'search=a?%zz']) {
      const { status, body } = await api.request('GET', `/api/v1/admin/organizations?${query}`, { token });
      expect({ status, ...body }, query).to.include({ status: 400, code: 'BAD_REQUEST', defined: true });
      expect(body.data.issues, query).to.deep.equal([{ path: ['query'], message: 'The query has a broken percent-encoding.' }]);
    }
    for (const query of ['search=%C3%A9', 'search=a+b%20c', 'search=50%25', 'search=a?b', '']) {
      expect((await api.request('GET', `/api/v1/admin/organizations?${query}`, { token })).status, query).to.equal(200);
    }
    expect((await api.request('GET', '/api/v1/admin/organizations?search=%ff')).status).to.equal(401);
  });

  for (const [where, open, close] of [
    ['arrays', '[', ']'],
    ['objects', '{"a":', '}'],
  ] as const) {
    it(`of JSON that is nested in thousands of ${where} are BAD_REQUEST, and stop nobody else`, async () => {
      const deep = (levels: number) => `${open.repeat(levels)}1${close.repeat(levels)}`;
      const { token } = platformAdmin;
      const slug = `deep-${where}`;
      const bodies = {
        '/api/v1/workspaces': `{"organizationId":"abc","name":"a","slug":"aa","deep":${deep(100_000)}}`,
        '/rpc/workspaces/create': `{"json":{"organizationId":"abc","name":"a","slug":"aa","deep":${deep(100_000)}}}`,
        '/api/auth/organization/create': `{"name":"a","slug":"${slug}","metadata":{"deep":${deep(10_000)}}}`,
        '/api/auth/sign-in/email': `{"email":"a@example.com","password":${deep(10_000)}}`,
      };
      for (const [path, body] of Object.entries(bodies)) {
        const answer = await api.request('POST', path, { token, body });
        const envelope = answer.body.json ?? answer.body;
        expect({ status: answer.status, ...envelope }, path).to.include({ status: 400, code: 'BAD_REQUEST', defined: true });
        expect(envelope.message, path).to.equal('The body is nested deeper than 64 levels.');
      }
      const shallow = `{"organizationId":"abc","name":"a","slug":"aa","deep":${deep(60)}, "text": "${open.repeat(100).replaceAll('"', '')}"}`;
      expect((await api.request('POST', '/api/v1/workspaces', { token, body: shallow })).body.code).to.equal('FORBIDDEN');
    });
  }

  for (const transport of transports) {
    for (const route of askedOver(transport)) {
      it(`of a body that is no JSON are BAD_REQUEST at ${route.metadata.operation}, over ${transport}`, async () => {
        const { status, body } = await send(transport, route, { headers: json, body: ['{"broken'] });
        expect({ status, ...body }).to.include({ status: 400, code: 'BAD_REQUEST', defined: true });
        expect(body.data.issues).to.deep.equal([{ path: ['body'], message: 'The body is not valid JSON.' }]);
      });

      it(`of a body over 1 MiB are payload_too_large at ${route.metadata.operation}, over ${transport}`, async () => {
        const large = JSON.stringify({ json: {}, text: 'a'.repeat(mebibyte) });
        const whole = { headers: { ...json, 'content-length': String(large.length) }, body: [large] };
        const chunked = { headers: json, body: [large.slice(0, 600_000), large.slice(600_000)] };
        const packed = { headers: { ...json, 'content-encoding': 'gzip' }, body: [gzipSync(large)] };
        for (const request of [whole, chunked, packed]) {
          const { status, headers, body } = await send(transport, route, request);
          expect(status).to.equal(413);
          expect(body).to.deep.equal({ error: 'payload_too_large', requestId: headers.get('x-request-id') });
        }
      });
    }

    it(`of a body in an encoding that is not known name it, over ${transport}`, async () => {
      const { body } = await send(transport, routeOf('workspaces.create'), {
        headers: { ...json, 'content-encoding': 'zip' },
        body: ['{}'],
      });
      const message = 'unsupported content encoding "zip"';
      const error = { code: 'BAD_REQUEST', status: 400, message, data: { issues: [{ path: ['Content-Encoding'], message }] } };
      expect(body).to.deep.include(error);
    });

    it(`of a body in an unknown form are BAD_REQUEST, over ${transport}`, async () => {
      const route = routeOf('workspaces.create');
      const forms: Omit<RawRequest, 'method' | 'path'>[] = [
        { headers: { 'content-type': 'application/json; charset=latin1' }, body: ['{}'] },
        { headers: { ...json, 'content-encoding': 'compress' }, body: ['{}'] },
        { headers: { ...json, 'content-encoding': 'gzip' }, body: ['no gzip'] },
        { headers: { ...json, 'content-encoding': 'gzip' }, body: [gzipSync('{}').subarray(0, 12)] },
        { headers: { 'content-type': 'multipart/form-data; boundary=x' }, body: ['--x--'] },
        { headers: { 'content-type': 'text/event-stream' }, body: ['data: {}\n\n'] },
        { headers: { 'content-type': 'application/octet-stream', 'content-disposition': 'attachment; filename=x' }, body: ['{}'] },
        { headers: json, body: ['null'] },
        { headers: json, body: ['[]'] },
        { headers: json, body: ['"text"'] },
        { headers: json, body: [Buffer.from('{"json":{"name":"\xff"}}', 'latin1')] },
        { headers: {}, body: [] },
      ];
      for (const form of forms) {
        const { status, body } = await send(transport, route, form);
        expect({ status, ...body }, JSON.stringify(form)).to.include({ status: 400, code: 'BAD_REQUEST', defined: true });
        expect(body.data.issues).to.be.an('array').that.is.not.empty;
      }
    });
  }

  for (const text of ['null', '1', ' "text" ', 'true', '[]'])
    it(`of the body ${text} are BAD_REQUEST, and say that it must be an object`, async () => {
      const { status, body } = await send('REST', routeOf('workspaces.create'), { headers: json, body: [text] });
      expect({ status, ...body }).to.include({ status: 400, code: 'BAD_REQUEST', message: 'The body must be a JSON object.' });
      expect(body.data.issues).to.deep.equal([{ path: [], message: 'The body must be a JSON object.' }]);
    });

  it('of a body that is not in the form of the procedure transport are BAD_REQUEST, and change nothing in the process', async () => {
    const route = routeOf('workspaces.create');
    const bodies = [
      { json: {}, meta: [[1, 'nothing', 'here']] },
      { json: {}, meta: 'text' },
      { json: {}, meta: [[3, '__proto__', 'polluted']] },
      { json: { a: 1 }, meta: [[1, '__proto__']] },
      { json: { a: '1' }, meta: [[1, 'constructor', 'prototype', 'x']] },
      { json: [] },
      { json: 'text' },
      { meta: [] },
      {},
    ];
    for (const content of bodies) {
      const { status, body } = await send('RPC', route, { headers: json, body: [JSON.stringify(content)] });
      expect({ status, ...body }, JSON.stringify(content)).to.include({ status: 400, code: 'BAD_REQUEST', defined: true });
      expect(body.data.issues, JSON.stringify(content)).to.be.an('array').that.is.not.empty;
    }
  });

  function send(transport: Transport, route: AnyRoute, request: Omit<RawRequest, 'method' | 'path'>): Promise<Answer> {
    return sendTo(api, transport, route, request, route.metadata.access === 'api-key' ? key : platformAdmin);
  }
});

/** These two use nothing that could fail. */
const canFail = ({ metadata }: AnyRoute) => !['system.health', 'system.authConfig'].includes(metadata.operation);
/** A body in which an operation that is public finds what it needs, over either transport. */
const contact = { email: 'ada@example.com', message: 'How do I raise my quota?' };
const requestTo = ({ method }: AnyRoute) =>
  method === 'GET' ? {} : { headers: json, body: [JSON.stringify({ ...contact, json: contact })] };

describe('An internal error', () => {
  const { api, tenant } = useApi({ env: { WORKER_ENABLED: 'false', CONTACT_EMAIL: 'operator@example.com' } });
  const takeAway = (table: string) =>
    sql`alter table ${sql.table(table)} rename to ${sql.table(`${table}_of_another_release`)}`.execute(api.database.db);

  it('inside a procedure tells nothing of its cause, and is logged once', async () => {
    await takeAway('workspace');
    for (const transport of transports) {
      const route = routeOf('workspaces.delete');
      const request = { headers: { ...json, 'x-request-id': `failing-${transport}` }, body: [JSON.stringify({ json: { id: 'abc' } })] };
      const answer = await sendTo(api, transport, route, request, tenant.owner);
      expect([answer.status, answer.body]).to.deep.equal([500, { error: 'internal_error', requestId: `failing-${transport}` }]);
      const lines = await linesWith(api, `failing-${transport}`);
      expect(lines).to.have.length(1);
      expect(lines[0]).to.include('workspace');
    }
  });

  describe('before a procedure', () => {
    before(async () => {
      for (const table of ['session', 'mail']) await takeAway(table);
    });

    for (const transport of transports)
      for (const route of askedOver(transport).filter(canFail))
        it(`at ${route.metadata.operation} over ${transport} tells its request id, and the log the cause, once`, async () => {
          const { status, headers, body } = await sendTo(api, transport, route, requestTo(route), tenant.owner);
          expect(status).to.equal(500);
          expect(body).to.deep.equal({ error: 'internal_error', requestId: headers.get('x-request-id') });
          const lines = await linesWith(api, headers.get('x-request-id') ?? '-');
          expect(lines).to.have.length(1);
          expect(lines[0]).to.match(/relation \\"(session|mail)\\" does not exist/);
        });
  });
});

describe('A database that does not respond', () => {
  const quick = { statementMs: 500, connectMs: 500 };
  useBounds({ session: quick, request: quick });
  let api: TestApi;
  let proxy: TcpProxy;
  let user: TestUser;

  before(async () => {
    const database = await createTestDatabase({ poolSize: 4 });
    const through = await startDatabaseProxy(database.url);
    proxy = through.proxy;
    const env = { DATABASE_URL: through.url, WORKER_ENABLED: 'false', CONTACT_EMAIL: 'operator@example.com' };
    api = await startTestApi({ database, env });
    user = await api.signUp();
    proxy.silence();
  });
  after(async () => {
    proxy.resume();
    await api.stop();
    await proxy.stop();
  });

  for (const transport of transports)
    it(`is SERVICE_UNAVAILABLE at every operation that needs it, over ${transport}`, async () => {
      const turns = new Semaphore(10);
      const asked = askedOver(transport)
        .filter(canFail)
        .map(async (route) => {
          const { status, headers, body } = await turns.run(() => sendTo(api, transport, route, requestTo(route), user));
          const { message } = errorCodes.SERVICE_UNAVAILABLE;
          expect({ status, ...body }, route.metadata.operation).to.deep.equal({
            ...{ status: 503, code: 'SERVICE_UNAVAILABLE', defined: true, message },
          });
          expect(Number(headers.get('retry-after'))).to.be.at.least(1);
        });
      await Promise.all(asked);
    });
});

describe('The limit of requests', () => {
  const { api } = useApi({ env: { WORKER_ENABLED: 'false', RATE_LIMIT_PER_MINUTE: '2' } });

  it('counts down, and then tells how long to wait, at every operation over both transports', async () => {
    const first = await api.request('GET', '/api/v1/health');
    expect(first.headers.get('ratelimit-policy')).to.equal('"requests";q=2;w=60');
    expect(first.headers.get('ratelimit')).to.match(/^"requests";r=1;t=\d+$/);
    expect((await api.request('GET', '/api/v1/openapi.json')).headers.get('ratelimit')).to.match(/^"requests";r=0;t=\d+$/);
    for (const transport of transports) {
      for (const route of askedOver(transport)) {
        const { status, headers, body } = await sendTo(api, transport, route, {});
        expect({ status, ...body }).to.include({ status: 429, code: 'TOO_MANY_REQUESTS', defined: true });
        expect(Number(headers.get('retry-after'))).to.be.within(1, 60);
        expect(headers.get('ratelimit')).to.match(/^"requests";r=0;t=\d+$/);
      }
    }
  });

  it('leaves probes and signing in alone', async () => {
    for (const path of ['/healthz', '/readyz', '/docs']) expect((await api.request('GET', path)).status).to.equal(200);
    const body = { name: 'Ada', email: 'ada@example.com', password: 'a long password' };
    expect((await api.request('POST', '/api/auth/sign-up/email', { body })).status).to.equal(200);
  });
});

/** Sends a request to the path of an operation, as it is. Over RPC the envelope is taken off the answer. */
async function sendTo(
  api: TestApi,
  transport: Transport,
  route: AnyRoute,
  request: Omit<RawRequest, 'method' | 'path'>,
  caller?: Pick<TestUser, 'token'>,
): Promise<Answer> {
  const headers = { ...(caller ? { authorization: `Bearer ${caller.token}` } : {}), ...request.headers };
  if (transport === 'REST') {
    const path = `/api/v1${route.path.replaceAll(/:\w+/g, 'abc')}`;
    return sendRaw(api, { ...request, headers, method: route.method, path });
  }
  const path = `/rpc/${route.metadata.operation.replaceAll('.', '/')}`;
  const answer = await sendRaw(api, { ...request, headers, method: 'POST', path });
  return { ...answer, body: answer.body.json ?? answer.body };
}

function routeOf(operation: string): AnyRoute {
  const route = routes.find(({ metadata }) => metadata.operation === operation);
  if (!route) throw new Error(`the contract has no ${operation}`);
  return route;
}

/** The internal errors that the API logged under a request id, once there is one. */
async function linesWith(api: TestApi, requestId: string): Promise<string[]> {
  const find = () => {
    const lines = api.stack.readLog('api').split('\n');
    return lines.filter((line) => line.includes(requestId) && line.includes('internal error'));
  };
  await until(() => find().length > 0);
  return find();
}
