import { once } from 'node:events';
import { type ClientRequest, type IncomingMessage, request } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { expect } from 'chai';
import { until } from '../support/processes.ts';
import { useApi } from '../support/use-api.ts';

const mebibyte = 1024 * 1024;

describe('Large bodies', () => {
  const { api } = useApi({ env: { WORKER_ENABLED: 'false', TRUST_PROXY: 'true' } });
  let sent: ClientRequest[] = [];
  beforeEach(() => {
    sent = [];
  });
  afterEach(() => {
    for (const each of sent) each.destroy();
  });

  /** Begins a request whose body does not come whole. */
  function begin(path: string, headers: Record<string, string>): ClientRequest {
    const started = request(`${api.url}${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      agent: false,
    });
    sent.push(started.on('error', () => {}));
    started.write('{');
    return started;
  }
  const as = ({ token }: { token: string }) => ({ authorization: `Bearer ${token}` });
  const post = async (user: { token: string }, padding: number) => {
    const body = JSON.stringify({ organizationId: 'abc', name: 'a', slug: 'aa' }) + ' '.repeat(padding);
    return (await api.request('POST', '/api/v1/workspaces', { token: user.token, body })).status;
  };

  it('of one user wait for each other, while its small ones and those of others are served', async () => {
    const [loud, quiet] = [await api.signUp(), await api.signUp()];
    for (let n = 0; n < 8; n++) begin('/api/v1/workspaces', { ...as(loud), 'content-length': String(mebibyte) });
    // Those that were begun may come later than the first of these.
    await until(async () => (await Promise.race([post(loud, 500_000), delay(500, 'waits')])) === 'waits');
    let isServed = false;
    const waiting = post(loud, 500_000).finally(() => {
      isServed = true;
    });
    expect([await post(loud, 0), await post(quiet, 0), await post(quiet, 500_000)]).to.deep.equal([403, 403, 403]);
    expect(isServed).to.equal(false);
    for (const each of sent) each.destroy();
    expect(await waiting).to.equal(403);
  });

  it('of addresses that announce much and send nothing do not close the API', async () => {
    const user = await api.signUp();
    const from = (address: string) => ({ 'x-forwarded-for': address });
    for (let address = 0; address < 8; address++)
      for (let n = 0; n < 9; n++) begin('/api/v1/contact', { ...from(`198.51.100.${address}`), 'transfer-encoding': 'chunked' });
    expect([await post(user, 0), await post(user, 500_000)]).to.deep.equal([403, 403]);
    const body = { email: 'ada@example.com', message: 'How do I raise my quota?' };
    const contact = await api.request('POST', '/api/v1/contact', { body, headers: from('198.51.100.100') });
    expect([contact.status, contact.body.code]).to.deep.equal([412, 'PRECONDITION_FAILED']);
    expect((await api.rpc('system.health', {})).status).to.equal(200);
  });

  it('are refused at once where they open a stream, which may stay open for long', async () => {
    const { token } = await api.signUp();
    const body = JSON.stringify({ json: { organizationId: 'abc' } });
    const open = (bytes: number) => api.request('POST', '/rpc/jobs/stream', { token, body: body.padEnd(bytes) });
    expect((await open(16_384)).status).to.equal(403);
    const refused = await open(16_385);
    expect([refused.status, refused.body.error]).to.deep.equal([413, 'payload_too_large']);
  });

  it('are refused with 413 as soon as they are larger than 1 MiB', async () => {
    const user = await api.signUp();
    const [response] = (await once(begin('/api/v1/workspaces', { ...as(user), 'content-length': String(mebibyte + 1) }), 'response')) as [
      IncomingMessage,
    ];
    expect(response.statusCode).to.equal(413);
  });
});
