import { expect } from 'chai';
import { aiError } from '../support/fake-ai.ts';
import { callOver } from '../support/transports.ts';
import { useApi } from '../support/use-api.ts';

describe('A document whose job failed', () => {
  const { api, ai, tenant } = useApi({ ai: true, tenant: 'of each test', check: 'after each test' });

  it('says so with the reason until another job is queued', async () => {
    const { organizationId, workspaceId, owner } = tenant;
    const { token } = owner;
    const { id } = await api.upload(tenant, { bytes: 'The dome opens at dusk.' });
    const call = async (operation: string, input: object) =>
      (await callOver(api, 'REST', operation, input as Record<string, unknown>, { token })).body;
    const shown = async () => {
      const { items } = await call('documents.list', { organizationId, workspaceId });
      const got = await call('documents.get', { id });
      expect(items).to.deep.equal([got]);
      return got.failedJob;
    };
    expect(await shown()).to.equal(null);

    ai.behave('extract', () => aiError(415, 'unsupported_file'));
    const { id: failed } = await call('jobs.create', { kind: 'document.index', documentId: id });
    const job = await api.jobIn(token, failed, ['failed']);
    const expected = { id: failed, kind: 'document.index', error: job.error, finishedAt: job.finishedAt };
    expect(expected.error.message).to.be.a('string');
    expect(await shown()).to.deep.equal(expected);
    expect((await call('documents.update', { id, tags: ['odd'] })).failedJob).to.deep.equal(expected);

    ai.behave('extract');
    const { id: again } = await call('jobs.create', { kind: 'document.extract', documentId: id });
    await api.jobIn(token, again, ['succeeded']);
    expect(await shown()).to.equal(null);
  });
});
