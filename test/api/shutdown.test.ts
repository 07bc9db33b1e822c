import { expect } from 'chai';
import { until } from '../support/processes.ts';
import { expectOk } from '../support/requests.ts';
import { useApi } from '../support/use-api.ts';

describe('SIGTERM to the API', () => {
  const { api, tenant } = useApi({ process: true, env: { WORKER_ENABLED: 'false', SHUTDOWN_DELAY_MS: '6000' } });

  /** How long an idle connection is kept, in seconds; 0 if this response is its last. */
  const keptFor = async () => {
    const { headers } = await fetch(`${api.url}/healthz`);
    return headers.get('connection') === 'close' ? 0 : Number(/timeout=(\d+)/.exec(headers.get('keep-alive') ?? '')?.[1]);
  };

  it('turns readiness first, while requests are still taken, and then drains', async () => {
    const { token } = tenant.owner;
    expect((await api.request('GET', '/readyz')).status).to.equal(200);
    // Longer than Envoy keeps it by default: else a proxy sends a request over a connection that is just being closed.
    expect(await keptFor()).to.be.above(3_600);
    const feed = `/api/v1/organizations/${tenant.organizationId}/audit-feed`;
    const { last } = (await expectOk(api.request('GET', feed, { token }))).body;
    const waiting = api.request('GET', `${feed}?after=${last}&wait=30`, { token });
    api.stack.signal('api', 'SIGTERM');
    await until(async () => (await api.request('GET', '/readyz')).status === 503);

    expect(await keptFor()).to.equal(0);
    expect((await waiting).body).to.deep.equal({ entries: [], last });
    const ready = await api.request('GET', '/readyz');
    expect(ready.body).to.deep.equal({ status: 'unavailable' });
    // Each over a connection of its own, which a closed listener would refuse.
    for (let n = 0; n < 5; n++) {
      const body = { organizationId: tenant.organizationId, name: 'Late', slug: `late-${n}` };
      const headers = { connection: 'close' };
      expect((await api.request('GET', '/healthz', { headers })).status).to.equal(200);
      expect((await api.request('POST', '/api/v1/workspaces', { token, body, headers })).status).to.be.oneOf([200, 403]);
    }
    const refused = () =>
      fetch(`${api.url}/healthz`).then(
        () => false,
        () => true,
      );
    await until(refused);
    await until(() => api.stack.pid('api') === undefined);
    expect(api.stack.readLog('api')).to.include('"msg":"stopped"');
  });
});
