import { expect } from 'chai';
import { createKey } from '../support/api-keys.ts';
import { goodAnswer } from '../support/fake-ai.ts';
import { useApi } from '../support/use-api.ts';
import { type FaultyProxy, startFaultyProxy } from './support/faulty-proxy.ts';
import { completePython, type PythonKind, pythonKinds, pythonProgram } from './support/python-client.ts';

/** What came of a call. */
interface Outcome {
  result?: any;
  error?: Record<string, any>;
  raised?: string;
}

describe('Calls by the Python client', () => {
  const { api, ai, tenant } = useApi({ ai: true });
  let proxy: FaultyProxy;
  let token: string;

  before(async () => {
    proxy = await startFaultyProxy(api.url);
    ({ token } = await createKey(api, tenant));
  });
  beforeEach(() => {
    proxy.passed.length = 0;
    proxy.faults = () => undefined;
    ai.behave('embed');
    ai.behave('extract');
  });
  after(() => proxy.close());

  async function call(calls: [name: string, fields: object][], kind: PythonKind = 'sync', url = proxy.url): Promise<Outcome[]> {
    const env = { SHEAF_URL: url, SHEAF_API_KEY: token };
    const printed = await completePython(['-c', pythonProgram('calls', kind), JSON.stringify(calls)], { env });
    return printed
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line));
  }

  async function createJob(fields: object = {}): Promise<string> {
    const body = { kind: 'text.embed', organizationId: tenant.organizationId, texts: ['one'], maxAttempts: 1, ...fields };
    return (await api.request('POST', '/api/v1/jobs', { token: tenant.owner.token, body })).body.id;
  }

  const workspace = (slug: string) => ({ organization_id: tenant.organizationId, name: 'Notes', slug });
  const asked = (end: string) => proxy.passed.filter(({ path }) => path.split('?')[0]?.endsWith(end));

  for (const kind of pythonKinds) {
    it(`waits until a job has succeeded or failed, or for so long (${kind})`, async () => {
      const [succeeding, failing] = [await createJob(), await createJob({ texts: ['broken'] })];
      ai.behave('embed', (asking) => (asking.body.texts[0] === 'broken' ? { status: 422, body: {} } : goodAnswer(asking)));
      const [succeeded, failed, returned] = await call(
        [
          ['wait_for', { job_id: succeeding }],
          ['wait_for', { job_id: failing }],
          ['wait_for', { job_id: failing, return_failed: true }],
        ],
        kind,
      );
      expect(succeeded?.result).to.deep.include({ id: succeeding, kind: 'text.embed', status: 'succeeded' });
      expect(returned?.result).to.deep.include({ id: failing, status: 'failed' });
      const { code, message } = returned?.result.error ?? {};
      expect(failed?.error).to.deep.include({ code, message, status: 0, text: `${code}: ${message}`, job: returned?.result });
      ai.behave('embed', () => undefined);
      const [late] = await call([['wait_for', { job_id: await createJob(), timeout: 0.5 }]], kind);
      expect(late).to.deep.equal({ raised: 'TimeoutError' });
    });

    it(`raises what the service says, with its code, status, data and request id (${kind})`, async () => {
      const [first, again, invalid, forbidden, absent] = await call(
        [
          ['workspaces.create', workspace(`twice-${kind}`)],
          ['workspaces.create', workspace(`twice-${kind}`)],
          ['workspaces.create', workspace('Not a slug')],
          ['organizations.usage', { organization_id: 'other' }],
          ['documents.get', { id: 'none' }],
        ],
        kind,
      );
      expect(first?.result).to.include({ slug: `twice-${kind}`, organizationId: tenant.organizationId });
      expect(again?.error).to.include({ code: 'CONFLICT', status: 409, defined: true, data: null });
      expect(again?.error?.request_id).to.match(/^[0-9a-f-]{36}$/);
      expect(invalid?.error).to.include({ code: 'BAD_REQUEST', status: 400 });
      expect(invalid?.error?.data.issues[0].path).to.deep.equal(['slug']);
      expect(forbidden?.error).to.include({ code: 'FORBIDDEN', status: 403 });
      expect(absent?.error).to.include({ code: 'NOT_FOUND', status: 404, text: `NOT_FOUND: ${absent?.error?.message}` });
    });

    it(`lists documents in the order that a call names (${kind})`, async () => {
      const own = await api.createTenant();
      for (const name of ['b.txt', 'c.txt', 'a.txt']) await api.upload(own, { name, bytes: 'A text.' });
      ({ token } = await createKey(api, own));
      const place = { organization_id: own.organizationId, workspace_id: own.workspaceId };
      const orders = ['name', '-name'].map((sort): [string, object] => ['documents.list', { ...place, sort }]);
      const listed = await call(orders, kind).finally(async () => ({ token } = await createKey(api, tenant)));
      expect(listed.map(({ result }) => result.items.map(({ name }: any) => name[0]).join(''))).to.deep.equal(['abc', 'cba']);
    });

    it(`makes a call again where that does no harm (${kind})`, async () => {
      const lost = new Set<string>();
      proxy.faults = ({ method, path }) => {
        const step = `${method} ${path.split('?')[0]}`;
        if (lost.has(step)) return undefined;
        lost.add(step);
        return 'lose-answer';
      };
      const { workspaceId } = tenant;
      const [created, listed, searched, deleted] = await call(
        [
          ['workspaces.create', workspace(`lost-${kind}`)],
          ['workspaces.list', { organization_id: tenant.organizationId }],
          ['documents.search', { workspace_id: workspaceId, query: 'mites' }],
          ['documents.delete', { id: 'none' }],
        ],
        kind,
      );
      expect(created?.result.slug).to.equal(`lost-${kind}`);
      const keys = proxy.passed.filter(({ method }) => method === 'POST').map(({ headers }) => headers['idempotency-key']);
      expect(keys[0]).to.be.a('string').and.equal(keys[1]);
      expect(listed?.result).to.be.greaterThan(1);
      for (const outcome of [searched, deleted]) expect(outcome?.error).to.include({ code: 'NETWORK', status: 0, request_id: null });
      expect(asked('/workspaces')).to.have.length(4);
      expect(asked('/search')).to.have.length(1);
      expect(asked('/documents/none')).to.have.length(1);
    });
  }

  it('waits as the service asks, but not for too long', async () => {
    const of = (retryAfter: string) => ({ status: 429, headers: { 'retry-after': retryAfter } });
    proxy.faults = () => (proxy.passed.length === 1 ? of('0') : undefined);
    const [waited] = await call([['documents.delete', { id: 'none' }]]);
    expect(waited?.error).to.include({ code: 'NOT_FOUND' });
    expect(proxy.passed).to.have.length(2);
    proxy.faults = () => of('60');
    const [refused] = await call([['documents.get', { id: 'none' }]]);
    expect(refused?.error).to.include({ code: 'HTTP_429', status: 429, retry_after: 60 });
    expect(proxy.passed).to.have.length(3);
  });

  it('says when the url is not that of the service', async () => {
    const calls: [string, object][] = [['workspaces.list', { organization_id: tenant.organizationId }]];
    const [below] = await call(calls, 'sync', `${proxy.url}/api/v1`);
    expect(below?.error).to.include({ code: 'NOT_FOUND', status: 404 });
    expect(below?.error?.message).to.match(/must be the root of the service, without \/api\/v1\.$/);
    proxy.faults = () => ({ status: 200, headers: {} });
    const [other] = await call(calls);
    expect(other?.error).to.include({ code: 'UNEXPECTED_ANSWER', status: 0 });
  });
});
