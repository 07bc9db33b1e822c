import { expect } from 'chai';
import { maxEndpoints } from '../../../domain/webhooks/endpoint.ts';
import { noteTokens } from '../../support/run-secrets.ts';
import { useApi } from '../../support/use-api.ts';
import { addEndpoint, call, webhooksOn } from './support.ts';

describe('Webhook endpoints', () => {
  const { api, tenant } = useApi({ process: true, env: { ...webhooksOn, WORKER_ENABLED: 'false' } });
  const create = (organizationId: string, token: string) =>
    api.request('POST', '/api/v1/webhooks', { token, body: { organizationId, url: 'http://127.0.0.1:9/', events: ['job.failed'] } });

  it('are bounded for an organization', async () => {
    for (let made = 0; made < maxEndpoints; made += 1) await addEndpoint(api, tenant, { url: 'http://127.0.0.1:9/' });
    const { body } = await create(tenant.organizationId, tenant.owner.token);
    expect(body).to.include({ code: 'CONFLICT', defined: true });
  });

  it('are not made in an organization that is being deleted', async () => {
    const { organizationId, owner } = await api.createTenant();
    const deletion = { organization_id: organizationId, requested_by: owner.id };
    await api.database.db.insertInto('organization_deletion').values(deletion).execute();
    expect((await create(organizationId, owner.token)).body).to.include({ code: 'NOT_FOUND', defined: true });
  });

  it('are refused by every operation that changes something while webhooks are off, and are not listed', async () => {
    const other = await api.createTenant();
    const { organizationId, owner } = other;
    const { id } = await addEndpoint(api, other, { url: 'http://127.0.0.1:9/' });
    const delivery = await call(api, other, 'POST', `/webhooks/${id}/test`);
    await api.stack.restart('api', { WEBHOOKS_ENABLED: 'false' });
    const operations: [method: string, path: string, body?: object][] = [
      ['PATCH', `/webhooks/${id}`, { description: 'Changed' }],
      ['POST', `/webhooks/${id}/rotate-secret`],
      ['POST', `/webhooks/${id}/test`],
      ['DELETE', `/webhooks/${id}`],
      ['POST', `/webhook-deliveries/${delivery.id}/resend`],
      ['POST', '/webhook-deliveries/resend', { organizationId }],
      ['GET', `/webhooks?organizationId=${organizationId}`],
      ['GET', `/webhook-deliveries/${delivery.id}`],
    ];
    expect((await create(organizationId, owner.token)).body).to.include({ code: 'PRECONDITION_FAILED', defined: true });
    for (const [method, path, body] of operations) {
      const refused = await api.request(method, `/api/v1${path}`, { token: owner.token, ...(body && { body }) });
      noteTokens(refused.body.secret?.slice('whsec_'.length));
      expect(refused.body, `${method} ${path}`).to.include({ code: 'PRECONDITION_FAILED', defined: true });
    }
    expect(await api.database.db.selectFrom('webhook_endpoint').select('id').where('id', '=', id).execute()).to.have.length(1);
  });
});
