import { expect } from 'chai';
import { withTimes } from '../support/times.ts';
import { callOver } from '../support/transports.ts';
import { useApi } from '../support/use-api.ts';

describe('The deletion of an organization that takes long', () => {
  // Without a worker it takes for ever.
  const { api } = useApi({ env: withTimes({ deletionWait: 300 }, { WORKER_ENABLED: 'false' }) });

  it('answers that it goes on, however often it is asked for', async () => {
    const { organizationId, slug } = await api.createTenant();
    const admin = await api.signUp();
    await api.makePlatformAdmin(admin);
    for (let count = 0; count < 2; count++) {
      const answer = await callOver(api, 'REST', 'admin.organizations.delete', { organizationId, confirmSlug: slug }, admin);
      expect(answer.body).to.include({ code: 'SERVICE_UNAVAILABLE', status: 503, defined: true });
      expect(answer.body.message).to.include('goes on');
    }
  });
});
