import { expect } from 'chai';
import type { Client } from './support/client.ts';
import { useAuthService } from './support/use-auth-service.ts';

describe('The audit log of what better-auth writes', () => {
  const service = useAuthService();
  let owner: Client;
  let ownerUser: { userId: string; email: string };
  let organizationId: string;
  beforeEach(async () => {
    owner = service.client();
    ownerUser = await owner.enter();
    organizationId = await owner.createOrganization('Acme');
  });

  const entries = (of = organizationId) =>
    service.db.selectFrom('audit_entry').selectAll().where('organization_id', '=', of).orderBy('created_at').orderBy('id').execute();
  const by = (user: { userId: string; email: string }) => ({ actor_id: user.userId, actor_email: user.email, impersonated_by: null });

  async function actionsAfter(change: () => Promise<{ status: number }>) {
    const earlier = (await entries()).length;
    expect((await change()).status).to.equal(200);
    return (await entries()).slice(earlier);
  }

  it('names the creator of an organization and makes it the first member', async () => {
    const [created, added, ...others] = await entries();
    expect(created).to.deep.include({
      ...by(ownerUser),
      action: 'organization.create',
      target_type: 'organization',
      target_id: organizationId,
    });
    expect(created?.metadata).to.include({ name: 'Acme' });
    expect(added).to.deep.include({ ...by(ownerUser), action: 'member.add', target_type: 'member' });
    expect(added?.metadata).to.deep.equal({ userId: ownerUser.userId, role: 'owner' });
    expect(others).to.deep.equal([]);
  });

  it('names the owner who invites, the guest who accepts, and then who changes and removes the member', async () => {
    const client = service.client();
    const guest = await client.enter();
    let invitationId = '';
    const [invited] = await actionsAfter(async () => {
      const answer = await owner.post('/organization/invite-member', { email: guest.email, role: 'member', organizationId });
      invitationId = answer.body.id;
      return answer;
    });
    expect(invited).to.deep.include({ ...by(ownerUser), action: 'invitation.create', target_type: 'invitation', target_id: invitationId });
    expect(invited?.metadata).to.deep.equal({ email: guest.email, role: 'member' });

    let memberId = '';
    const accepted = await actionsAfter(async () => {
      const answer = await client.post('/organization/accept-invitation', { invitationId });
      memberId = answer.body.member.id;
      return answer;
    });
    expect(accepted.map(({ action }) => action)).to.deep.equal(['invitation.accept', 'member.add']);
    expect(accepted[0]).to.deep.include({ ...by(guest), target_id: invitationId });
    expect(accepted[1]).to.deep.include({ ...by(guest), target_id: memberId });
    expect(accepted[1]?.metadata).to.deep.equal({ userId: guest.userId, role: 'member', invitationId });

    const changed = await actionsAfter(() => owner.post('/organization/update-member-role', { memberId, role: 'admin', organizationId }));
    expect(changed).to.have.length(1);
    expect(changed[0]).to.deep.include({ ...by(ownerUser), action: 'member.update', target_id: memberId });
    expect(changed[0]?.metadata).to.deep.equal({ userId: guest.userId, from: 'member', to: 'admin' });

    const removed = await actionsAfter(() => owner.post('/organization/remove-member', { memberIdOrEmail: memberId, organizationId }));
    expect(removed).to.have.length(1);
    expect(removed[0]).to.deep.include({ ...by(ownerUser), action: 'member.remove', target_id: memberId });
    expect(removed[0]?.metadata).to.deep.equal({ userId: guest.userId, role: 'admin' });
  });

  it('has rejected, canceled and repeated invitations', async () => {
    const client = service.client();
    const guest = await client.enter();
    const invite = (more = {}) =>
      owner.post('/organization/invite-member', { email: guest.email, role: 'member', organizationId, ...more });
    const first = await invite();
    const [resent] = await actionsAfter(() => invite({ resend: true }));
    expect(resent).to.deep.include({ ...by(ownerUser), action: 'invitation.create' });
    expect(resent?.metadata).to.include({ resent: true });
    const [rejected] = await actionsAfter(() => client.post('/organization/reject-invitation', { invitationId: first.body.id }));
    expect(rejected).to.deep.include({ ...by(guest), action: 'invitation.reject', target_id: first.body.id });
    const second = await invite();
    const [canceled] = await actionsAfter(() => owner.post('/organization/cancel-invitation', { invitationId: second.body.id }));
    expect(canceled).to.deep.include({ ...by(ownerUser), action: 'invitation.cancel', target_id: second.body.id });
    const again = await actionsAfter(() => owner.post('/organization/cancel-invitation', { invitationId: second.body.id }));
    expect(again).to.deep.equal([]);
  });

  it('has no acceptance that did not end in a member', async () => {
    const client = service.client();
    const guest = await client.enter();
    const invited = await owner.post('/organization/invite-member', { email: guest.email, role: 'member', organizationId });
    await service.db
      .insertInto('member')
      .values({ id: `other-${guest.userId}`, organizationId, userId: guest.userId })
      .execute();
    const earlier = (await entries()).length;
    const refused = await client.post('/organization/accept-invitation', { invitationId: invited.body.id });
    expect(refused.status).to.equal(400);
    expect(refused.body.code).to.equal('USER_IS_ALREADY_A_MEMBER_OF_THIS_ORGANIZATION');
    expect(await entries()).to.have.length(earlier);
    const row = await service.db.selectFrom('invitation').selectAll().where('id', '=', invited.body.id).executeTakeFirstOrThrow();
    expect(row).to.include({ status: 'pending', seatHeldUntil: null });
  });

  it('has teams and who is in them', async () => {
    let teamId = '';
    const actions = await actionsAfter(async () => {
      teamId = (await owner.post('/organization/create-team', { name: 'Red', organizationId })).body.id;
      await owner.post('/organization/add-team-member', { teamId, userId: ownerUser.userId, organizationId });
      await owner.post('/organization/update-team', { teamId, data: { name: 'Blue', organizationId } });
      return await owner.post('/organization/remove-team', { teamId, organizationId });
    });
    expect(actions.map(({ action, metadata }) => ({ action, metadata }))).to.deep.equal([
      { action: 'team.create', metadata: { name: 'Red' } },
      { action: 'team.update', metadata: { added: [ownerUser.userId] } },
      { action: 'team.update', metadata: { from: 'Red', to: 'Blue' } },
      { action: 'team.update', metadata: { removed: [ownerUser.userId] } },
      { action: 'team.delete', metadata: { name: 'Blue' } },
    ]);
    for (const entry of actions) expect(entry).to.deep.include({ ...by(ownerUser), target_type: 'team', target_id: teamId });
  });

  it('has changes of an organization, and says nothing where nothing changed', async () => {
    const [updated] = await actionsAfter(() => owner.post('/organization/update', { organizationId, data: { name: 'Apex' } }));
    expect(updated).to.deep.include({ ...by(ownerUser), action: 'organization.update', target_id: organizationId });
    expect(updated?.metadata).to.include({ name: 'Apex' });
    expect(await actionsAfter(() => owner.post('/organization/update', { organizationId, data: { name: 'Apex' } }))).to.deep.equal([]);
  });

  it('names the platform admin behind an impersonated session', async () => {
    const admin = service.client();
    const { userId: adminId } = await admin.enter();
    await service.db.updateTable('user').set({ role: 'admin' }).where('id', '=', adminId).execute();
    expect((await admin.post('/admin/impersonate-user', { userId: ownerUser.userId })).status).to.equal(200);
    const [updated] = await actionsAfter(() => admin.post('/organization/update', { organizationId, data: { name: 'Impersonated' } }));
    expect(updated).to.deep.include({ actor_id: ownerUser.userId, actor_email: ownerUser.email, impersonated_by: adminId });
  });

  it('names the platform admin who removes a user, in every organization that loses a member or an invitation', async () => {
    const admin = service.client();
    const adminUser = await admin.enter();
    await service.db.updateTable('user').set({ role: 'admin' }).where('id', '=', adminUser.userId).execute();
    const client = service.client();
    const member = await client.enter();
    await owner.bring({ client, email: member.email }, { organizationId, role: 'admin' });
    await client.post('/organization/invite-member', { email: 'theirs@example.com', role: 'member', organizationId });
    const removed = await actionsAfter(() => admin.post('/admin/remove-user', { userId: member.userId }));
    expect(removed.map(({ action }) => action)).to.have.members(['member.remove', 'invitation.cancel']);
    for (const entry of removed) expect(entry).to.deep.include(by(adminUser));
  });

  it('never names the actor of one request in another', async () => {
    const clients = await Promise.all(
      Array.from({ length: 6 }, async () => {
        const client = service.client();
        const user = await client.enter();
        return { client, user, id: await client.createOrganization() };
      }),
    );
    await Promise.all(
      clients.flatMap(({ client, id }) =>
        Array.from({ length: 8 }, (_, index) => client.post('/organization/create-team', { name: `T${index}`, organizationId: id })),
      ),
    );
    for (const { user, id } of clients) {
      const log = await entries(id);
      expect(log).to.have.length(10);
      for (const entry of log) expect(entry).to.deep.include(by(user));
    }
    await service.db.updateTable('organization').set({ name: 'By nobody' }).where('id', '=', organizationId).execute();
    expect((await entries()).at(-1)).to.include({ action: 'organization.update', actor_id: null, actor_email: null });
  });

  it('survives the deletion of the organization, without an entry for every member and team that goes with it', async () => {
    await owner.post('/organization/create-team', { name: 'Red', organizationId });
    const earlier = (await entries()).length;
    await service.db.deleteFrom('organization').where('id', '=', organizationId).execute();
    const log = await entries();
    expect(log.slice(earlier).map(({ action }) => action)).to.deep.equal(['organization.delete']);
    const second = await owner.createOrganization();
    await service.db.insertInto('organization_deletion').values({ organization_id: second }).execute();
    await service.db.deleteFrom('organization').where('id', '=', second).execute();
    expect((await entries(second)).map(({ action }) => action)).to.deep.equal(['organization.create', 'member.add']);
  });

  it('has the changes of a subscription, but no checkout that was only begun', async () => {
    const earlier = (await entries()).length;
    const id = `sub-${organizationId}`;
    await service.db.insertInto('subscription').values({ id, referenceId: organizationId, plan: 'pro' }).execute();
    await service.db.updateTable('subscription').set({ status: 'active', seats: 1 }).where('id', '=', id).execute();
    await service.db.updateTable('subscription').set({ seats: 2 }).where('id', '=', id).execute();
    await service.db.updateTable('subscription').set({ cancelAtPeriodEnd: true }).where('id', '=', id).execute();
    await service.db.deleteFrom('subscription').where('id', '=', id).execute();
    const log = (await entries()).slice(earlier);
    expect(log.map(({ action }) => action)).to.deep.equal(['subscription.update', 'subscription.update', 'subscription.delete']);
    expect(log[1]?.metadata).to.deep.equal({ plan: 'pro', status: 'active', cancelAtPeriodEnd: true });
  });
});
