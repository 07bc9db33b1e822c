import { expect } from 'chai';
import type { Answer } from '../support/api.ts';
import { useApi } from '../support/use-api.ts';

/** How often each status came. */
function countStatuses(answers: Answer[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const { status } of answers) counts[status] = (counts[status] ?? 0) + 1;
  return counts;
}

describe('A burst of one organization, beside another that was just served', () => {
  const { api, tenant } = useApi({ ai: true, env: { WORKER_ENABLED: 'false' } });

  before('serves another organization', async () => {
    const other = await api.createTenant();
    const path = `/api/v1/organizations/${other.organizationId}/usage`;
    expect((await api.request('GET', path, { token: other.owner.token })).status).to.equal(200);
  });

  for (const count of [60, 150]) {
    it(`of ${count} times jobs.create at once is created whole`, async () => {
      const { organizationId, owner } = tenant;
      const create = (n: number) =>
        api.request('POST', '/api/v1/jobs', {
          token: owner.token,
          body: { kind: 'text.summarize', organizationId, text: `Text number ${n}.` },
        });
      expect(countStatuses(await Promise.all(Array.from({ length: count }, (_, n) => create(n))))).to.deep.equal({ 200: count });
    });
  }

  it('of five searches at once is answered whole', async () => {
    const path = `/api/v1/workspaces/${tenant.workspaceId}/documents/search`;
    const search = () => api.request('POST', path, { token: tenant.owner.token, body: { query: 'mirrors' } });
    expect(countStatuses(await Promise.all(Array.from({ length: 5 }, search)))).to.deep.equal({ 200: 5 });
  });
});
