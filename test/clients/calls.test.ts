import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { type Client, createClient, SheafError } from '../../clients/typescript/index.ts';
import { operations } from '../../clients/typescript/operations.ts';
import { routes } from '../../contract/index.ts';
import { collectGarbage } from '../support/collect-garbage.ts';
import { until } from '../support/processes.ts';
import { staysTrue } from '../support/stays-true.ts';
import { useApi } from '../support/use-api.ts';
import { type FaultyProxy, startFaultyProxy } from './support/faulty-proxy.ts';
import { refusal } from './support/refusal.ts';

const retries = { baseDelayMs: 10 };

describe('The client', () => {
  const { api, tenant } = useApi();
  let proxy: FaultyProxy;
  let client: Client;

  before(async () => {
    proxy = await startFaultyProxy(api.url);
    client = createClient({ url: proxy.url, token: tenant.owner.token, retries });
  });
  beforeEach(() => {
    proxy.passed.length = 0;
    proxy.faults = () => undefined;
  });
  after(async () => {
    await proxy.close();
  });

  it('knows every operation of the contract, and how often each may be made', () => {
    const known = new Map<string, string>();
    const collect = (node: object, above: string[]) => {
      for (const [name, child] of Object.entries(node)) {
        if (typeof child === 'string') known.set([...above, name].join('.'), child);
        else collect(child, [...above, name]);
      }
    };
    collect(operations, []);
    const changesNothingTwice = new Set(['documents.complete']);
    const expected = routes.map(({ method, metadata: { operation, idempotent } }) => {
      if (operation === 'documents.search') return [operation, 'charged'];
      if (idempotent) return [operation, 'keyed'];
      return [operation, method === 'GET' || changesNothingTwice.has(operation) ? 'repeatable' : 'once'];
    });
    expect([...known].sort()).to.deep.equal(expected.sort());
  });

  it('calls with typed input and answers typed output', async () => {
    const { organizationId, workspaceId } = tenant;
    const me = await client.account.me();
    expect(me.email).to.equal(tenant.owner.email);
    const page = await client.documents.list({ organizationId, workspaceId, limit: 5 });
    const sizes: number[] = page.items.map(({ size }) => size);
    expect(sizes).to.deep.equal([]);
    // @ts-expect-error: a workspace has no such field
    expect((await client.workspaces.get({ organizationId, slug: 'main' })).nothing).to.equal(undefined);
    // @ts-expect-error: the workspace is missing
    expect((await refusal(client.documents.list({ organizationId }))).code).to.equal('BAD_REQUEST');
    // @ts-expect-error: a job on a document takes no texts
    expect((await refusal(client.jobs.create({ kind: 'document.extract', texts: ['one'] }))).code).to.equal('BAD_REQUEST');
  });

  describe('rejects', () => {
    it('with the code, the data and the request id of the answer', async () => {
      const { organizationId } = tenant;
      const error = await refusal(client.workspaces.create({ organizationId, name: 'a\u0007b', slug: 'bad-name' }));
      expect(error).to.include({ code: 'BAD_REQUEST', status: 400, defined: true });
      if (!error.is('BAD_REQUEST')) throw error;
      expect(error.data.issues.map(({ path }) => path)).to.deep.equal([['name']]);
      expect(error.requestId).to.match(/^[0-9a-f-]{36}$/);
      expect(error.is('LIMIT_REACHED')).to.equal(false);
    });

    it('where what answers is another service, or none', async () => {
      const elsewhere = await startFaultyProxy(api.url);
      elsewhere.faults = () => ({ status: 200, headers: { 'content-type': 'text/html' } });
      const strange = createClient({ url: elsewhere.url, retries });
      expect((await refusal(strange.system.health())).code).to.equal('UNEXPECTED_ANSWER');
      expect((await refusal(strange.auth.signIn({ email: 'ada@example.com', password: 'x' }))).code).to.equal('UNEXPECTED_ANSWER');
      await elsewhere.close();
      const error = await refusal(strange.system.health());
      expect(error).to.include({ code: 'NETWORK', status: 0, defined: false });
    });

    it('with a hint if its url is not the root of the service, or leads to another server', async () => {
      const elsewhere = await startFaultyProxy(api.url);
      const credentials = { email: 'ada@example.com', password: 'x' };
      for (const status of [200, 404, 405]) {
        elsewhere.faults = () => ({ status, headers: { 'content-type': 'text/html' } });
        const strange = createClient({ url: elsewhere.url, retries });
        for (const error of [await refusal(strange.system.health()), await refusal(strange.auth.signIn(credentials))])
          expect(error.message, `${status}`).to.include(`url (${elsewhere.url}) must be the root of the service`);
      }
      await elsewhere.close();
      const deep = createClient({ url: `${api.url}/api/v1`, token: tenant.owner.token, retries });
      for (const error of [await refusal(deep.system.health()), await refusal(deep.auth.signIn(credentials))]) {
        expect(error).to.include({ code: 'NOT_FOUND', status: 404, defined: false });
        expect(error.message).to.include(`url (${api.url}/api/v1) must be the root of the service, without /api/v1`);
      }
      // What is not found by an operation says nothing of the url.
      expect((await refusal(client.jobs.get({ id: 'none' }))).message).to.not.include('root of the service');
    });

    it("with the code of an error that has no envelope, and the service's request id", async () => {
      const text = 'x'.repeat(1_100_000);
      const { organizationId } = tenant;
      const error = await refusal(client.jobs.create({ kind: 'text.summarize', organizationId, text }));
      expect(error).to.include({ code: 'payload_too_large', status: 413, defined: false });
      expect(error.requestId).to.be.a('string');
    });

    it('when a try takes too long, and when it is aborted, in a wait too', async () => {
      const slow = createClient({ url: proxy.url, timeoutMs: 1, retries: { attempts: 2, baseDelayMs: 1 } });
      expect((await refusal(slow.system.health())).code).to.equal('TIMEOUT');
      const reason = new Error('no longer wanted');
      proxy.faults = () => ({ status: 503, headers: { 'retry-after': '30' } });
      const controller = new AbortController();
      const call = client.account.me({}, { signal: controller.signal }).catch((error: unknown) => error);
      await until(() => proxy.passed.some(({ path }) => path.includes('/me')));
      controller.abort(reason);
      expect(await call).to.equal(reason);
      expect(await client.account.me({}, { signal: AbortSignal.abort(reason) }).catch((error: unknown) => error)).to.equal(reason);
    });

    it('with an error of their own if the input cannot be sent, at once', async () => {
      const { organizationId } = tenant;
      const keyed = client.jobs.create({ kind: 'text.embed', organizationId, texts: ['one'] }, { idempotencyKey: '月報.pdf' });
      expect(await keyed.catch((error: unknown) => error)).to.be.instanceOf(TypeError);
      const circular: Record<string, unknown> = {};
      circular.self = circular;
      const { workspaceId } = tenant;
      const upload = client.documents.createUpload({ workspaceId, name: 'a', contentType: 'text/plain', size: 1, metadata: circular });
      expect(await upload.catch((error: unknown) => error)).to.be.instanceOf(RangeError);
      expect(proxy.passed).to.deep.equal([]);
      for (const url of ['', '/', 'api.example.com', 'localhost:3000'])
        expect(() => createClient({ url }), url).to.throw(TypeError, 'must be that of the service');
      for (const token of ['sheaf_one two', 'sheaf_one\ntwo', 'sheaf_\u{1f511}', ''])
        expect(() => createClient({ url: api.url, token })).to.throw(TypeError, /^token must not be empty, nor have blanks/);
    });

    it('a sign-in that is led to another server, which does not get the password', async () => {
      const elsewhere = await startFaultyProxy(api.url);
      for (const status of [302, 307, 308]) {
        proxy.faults = ({ path }) => ({ status, headers: { location: `${elsewhere.url}${path}` } });
        const refused = await refusal(client.auth.signIn({ email: 'ada@example.com', password: 'x' }));
        expect(refused.code, `${status}`).to.equal('UNEXPECTED_ANSWER');
      }
      expect(elsewhere.passed).to.deep.equal([]);
      await elsewhere.close();
    });

    it('when an answer stops after its headers, whatever was collected meanwhile', async () => {
      const slow = createClient({ url: proxy.url, timeoutMs: 1_000, retries: { attempts: 1 } });
      proxy.faults = () => 'mute';
      const call = refusal(slow.system.health());
      await until(() => proxy.passed.length > 0);
      await collectGarbage();
      expect((await call).code).to.equal('TIMEOUT');
    });
  });

  describe('when the network fails', () => {
    it('asks again for what only reads', async () => {
      proxy.faults = () => (proxy.passed.length < 3 ? 'lose-answer' : undefined);
      expect((await client.account.me()).id).to.equal(tenant.owner.id);
      expect(proxy.passed).to.have.length(3);
    });

    it('does what takes a key once, however often the answer is lost', async () => {
      proxy.faults = () => (proxy.passed.length < 3 ? 'lose-answer' : undefined);
      const { organizationId, workspaceId } = tenant;
      const job = await client.jobs.create({ kind: 'text.embed', organizationId, workspaceId, texts: ['one'] });
      expect(new Set(proxy.passed.map(({ headers }) => headers['idempotency-key'])).size).to.equal(1);
      const { items } = await client.jobs.list({ organizationId, workspaceId });
      expect(items.map(({ id }) => id)).to.deep.equal([job.id]);
      const another = await client.jobs.create({ kind: 'text.embed', organizationId, texts: ['one'] });
      expect(another.id).to.not.equal(job.id);
    });

    it('does not repeat what would be done twice, or cost twice', async () => {
      const { organizationId, workspaceId } = tenant;
      const { id } = await client.workspaces.create({ organizationId, name: 'Short-lived', slug: `w-${randomUUID().slice(0, 8)}` });
      proxy.passed.length = 0;
      proxy.faults = () => 'lose-answer';
      expect((await refusal(client.workspaces.delete({ id }))).code).to.equal('NETWORK');
      expect((await refusal(client.documents.search({ workspaceId, query: 'mirror' }))).code).to.equal('NETWORK');
      expect(proxy.passed).to.have.length(2);
    });

    it('gives up after as many tries as it may make', async () => {
      proxy.faults = () => ({ status: 502, headers: {} });
      expect((await refusal(client.account.me())).status).to.equal(502);
      expect(proxy.passed).to.have.length(4);
    });
  });

  it('waits until the date of a Retry-After, and not for one that is too far off', async () => {
    const date = new Date(Math.ceil(Date.now() / 1000) * 1000 + 1000);
    proxy.faults = () => (proxy.passed.length === 1 ? { status: 503, headers: { 'retry-after': date.toUTCString() } } : undefined);
    await client.account.me();
    expect(Date.now()).to.be.at.least(date.getTime());
    proxy.faults = () => ({ status: 429, headers: { 'retry-after': '3600' } });
    const error = await refusal(client.contact.send({ email: 'ada@example.com', message: 'How do I raise my quota?' }));
    expect(error).to.include({ status: 429, retryAfterMs: 3_600_000 });
    expect(proxy.passed).to.have.length(3);
  });

  it('waits for as long as it takes where it is given endless times', async () => {
    const endless = Number.POSITIVE_INFINITY;
    const { token } = tenant.owner;
    const client = createClient({
      url: proxy.url,
      token,
      timeoutMs: endless,
      retries: { maxSilenceMs: endless, maxRetryAfterMs: endless },
    });
    expect((await client.account.me()).id).to.equal(tenant.owner.id);
    proxy.passed.length = 0;
    const stream = await client.jobs.stream({ organizationId: tenant.organizationId });
    const next = stream.next();
    await staysTrue(() => proxy.passed.length === 1, 500);
    await stream.return();
    await next;
    // 35 days, which no timer can measure.
    proxy.faults = () => ({ status: 429, headers: { 'retry-after': '3000000' } });
    const controller = new AbortController();
    const call = client.account.me({}, { signal: controller.signal }).catch((error: unknown) => error);
    await until(() => proxy.passed.length === 2);
    await staysTrue(() => proxy.passed.length === 2, 500);
    controller.abort('enough');
    expect(await call).to.equal('enough');
  });

  it('waits for a job until it is final', async () => {
    const job = await client.jobs.create({ kind: 'text.embed', organizationId: tenant.organizationId, texts: ['one'] });
    const done = await client.waitForJob(job.id);
    expect(done.status).to.equal('succeeded');
    if (done.kind !== 'text.embed') throw new Error('another job');
    expect(done.result?.vectors).to.have.length(1);
  });

  it('rejects with the error of a job that has failed, or returns it if asked to', async () => {
    const file = new Blob(['%PDF-1.7 and nothing more']);
    const workspace = await client.workspaces.create({ organizationId: tenant.organizationId, name: 'Broken', slug: 'broken' });
    const upload = { workspaceId: workspace.id, file, name: 'broken.pdf', contentType: 'application/pdf' } as const;
    const document = await client.uploadDocument(upload);
    const job = await client.jobs.create({ kind: 'document.extract', documentId: document.id, maxAttempts: 1 });
    const error = await client.waitForJob(job.id).catch((reason: unknown) => reason);
    const failed = await client.waitForJob(job.id, { returnFailed: true });
    if (!(error instanceof SheafError)) throw new Error('it did not reject with an error of the client');
    expect(failed.status).to.equal('failed');
    expect({ code: error.code, message: error.message }).to.deep.equal(failed.error);
    expect(error.data).to.deep.equal(failed);
  });
});
