import { expect } from 'chai';
import type { Tenant } from '../support/api.ts';
import { createKey } from '../support/api-keys.ts';
import { callOver } from '../support/transports.ts';
import { useApi } from '../support/use-api.ts';

describe('organizations.delete', () => {
  const { api } = useApi();

  const remove = ({ organizationId, slug }: Tenant, options: object, confirmSlug = slug) =>
    callOver(api, 'REST', 'organizations.delete', { organizationId, confirmSlug }, options);

  it('deletes what an owner has, for good, and says in the audit log who did it', async () => {
    const [tenant, other] = [await api.createTenant(), await api.createTenant()];
    await api.upload(tenant, { bytes: 'a document' });
    const { owner, organizationId } = tenant;
    const answer = await remove(tenant, { token: owner.token });
    expect(answer.body, JSON.stringify(answer.body)).to.deep.equal({ organizationId, objectsDeleted: 1, objectsFailed: 0 });
    const left = await api.database.db.selectFrom('organization').select('id').execute();
    expect(left.map(({ id }) => id))
      .to.include(other.organizationId)
      .and.not.include(organizationId);
    const entry = await api.database.db
      .selectFrom('audit_entry')
      .select(['actor_id', 'metadata'])
      .where('organization_id', '=', organizationId)
      .where('action', '=', 'organization.delete')
      .executeTakeFirstOrThrow();
    expect(entry).to.deep.include({ actor_id: owner.id });
    expect(entry.metadata).to.include({ slug: tenant.slug });
    expect((await remove(tenant, { token: owner.token })).body).to.include({ code: 'FORBIDDEN', defined: true });
  });

  it('refuses admins, members, keys and the owners of others, another slug, and a live subscription', async () => {
    const [tenant, other] = [await api.createTenant(), await api.createTenant()];
    const { owner, organizationId } = tenant;
    for (const role of ['admin', 'member'] as const) {
      const user = await api.signUp();
      await api.addMember(organizationId, user, role);
      expect((await remove(tenant, { token: user.token })).body, role).to.include({ code: 'FORBIDDEN', defined: true });
    }
    expect((await remove(tenant, { token: other.owner.token })).body).to.include({ code: 'FORBIDDEN', defined: true });
    const { token } = await createKey(api, tenant);
    expect((await remove(tenant, { token })).body).to.include({ code: 'FORBIDDEN', defined: true });
    expect((await remove(tenant, { token: owner.token }, other.slug)).body).to.include({ code: 'NOT_FOUND', defined: true });

    const id = 'live';
    const subscription = { id, plan: 'pro', referenceId: organizationId, status: 'active' };
    await api.database.db
      .insertInto('subscription')
      .values(subscription as never)
      .execute();
    const refused = await remove(tenant, { token: owner.token });
    expect(refused.body).to.include({ code: 'PRECONDITION_FAILED', status: 412, defined: true });
    await api.database.db.deleteFrom('subscription').where('id', '=', id).execute();
    expect((await remove(tenant, { token: owner.token })).status).to.equal(200);
  });
});
