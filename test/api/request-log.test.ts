import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { until } from '../support/processes.ts';
import { useApi } from '../support/use-api.ts';

describe('The log of requests', () => {
  const { api, tenant } = useApi({ env: { WORKER_ENABLED: 'false' } });
  let documentId: string;
  before(async () => {
    documentId = (await api.upload(tenant, { bytes: 'a text' })).id;
  });

  /** The lines of a request, once there is one. */
  async function linesOf(requestId: string): Promise<any[]> {
    const find = () =>
      api.stack
        .readLog('api')
        .split('\n')
        .filter((line) => line.includes(requestId) && line.endsWith('}'))
        .map((line) => JSON.parse(line))
        .filter(({ msg }) => msg === 'request');
    await until(() => find().length > 0);
    return find();
  }
  /** The one line of a request, without what every line of the log has. */
  async function lineOf(method: string, path: string, options: { token?: string; body?: unknown } = {}) {
    const requestId = randomUUID();
    await api.request(method, path, { ...options, headers: { 'x-request-id': requestId } });
    const lines = await linesOf(requestId);
    expect(lines).to.have.lengthOf(1);
    const { time: _, pid: __, hostname: ___, part: ____, ms, requestId: logged, ...line } = lines[0];
    expect(logged).to.equal(requestId);
    expect(ms).to.be.a('number').at.least(0);
    return line;
  }
  const line = { level: 30, msg: 'request' };

  it('has the operation, the status and the organization of a request, over both transports', async () => {
    const { organizationId, owner } = tenant;
    const read = { ...line, operation: 'documents.get', status: 200, organizationId };
    expect(await lineOf('GET', `/api/v1/documents/${documentId}`, owner)).to.deep.equal({ ...read, method: 'GET' });
    const body = { json: { id: documentId } };
    expect(await lineOf('POST', '/rpc/documents/get', { token: owner.token, body })).to.deep.equal({ ...read, method: 'POST' });
  });

  it('names no organization before the caller was authorized in it', async () => {
    const { token } = await api.signUp();
    const refused = { ...line, operation: 'documents.get', method: 'GET', status: 403 };
    expect(await lineOf('GET', `/api/v1/documents/${documentId}`, { token })).to.deep.equal(refused);
  });

  it('has neither the path nor the query string, whatever serves the request', async () => {
    const nothing = { ...line, operation: 'none', method: 'GET', status: 404 };
    expect(await lineOf('GET', '/api/v1/nothing/secret?token=secret')).to.deep.equal(nothing);
    const auth = await lineOf('GET', '/api/auth/get-session?token=secret');
    expect(auth).to.deep.equal({ ...line, operation: 'auth.get-session', method: 'GET', status: 200 });
    const reset = await lineOf('GET', '/api/auth/reset-password/secret');
    expect(reset).to.deep.equal({ ...line, operation: 'auth.reset-password', method: 'GET', status: reset.status });
    const unknown = await lineOf('GET', '/api/auth/secret');
    expect(unknown).to.deep.equal({ ...line, operation: 'auth', method: 'GET', status: 404 });
    const list = await lineOf('GET', `/api/v1/organizations/${tenant.organizationId}/jobs?limit=1`, tenant.owner);
    expect(list).to.deep.equal({ ...line, operation: 'jobs.list', method: 'GET', status: 200, organizationId: tenant.organizationId });
  });

  it('says that a client left before its response was complete', async () => {
    const requestId = randomUUID();
    const leaving = new AbortController();
    const headers = { authorization: `Bearer ${tenant.owner.token}`, 'x-request-id': requestId };
    const path = `/api/v1/organizations/${tenant.organizationId}/jobs/stream`;
    await fetch(`${api.url}${path}`, { headers, signal: leaving.signal });
    leaving.abort();
    const [aborted] = await linesOf(requestId);
    expect(aborted).to.include({ operation: 'jobs.stream', status: 'aborted', organizationId: tenant.organizationId });
  });

  it('leaves out probes', async () => {
    const requestId = randomUUID();
    await fetch(`${api.url}/healthz`, { headers: { 'x-request-id': requestId } });
    await lineOf('GET', '/api/v1/me', tenant.owner);
    expect(api.stack.readLog('api')).to.not.include(requestId);
  });
});
