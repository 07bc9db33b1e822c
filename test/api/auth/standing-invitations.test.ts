import { expect } from 'chai';
import type { Client } from './support/client.ts';
import { useAuthService } from './support/use-auth-service.ts';

describe('An invitation', () => {
  const service = useAuthService({}, { check: true });

  async function newUser() {
    const client = service.client();
    const user = await client.enter();
    await service.db.updateTable('user').set({ emailVerified: true }).where('id', '=', user.userId).execute();
    return { client, ...user };
  }

  /** An organization in which somebody who is not its first owner has invited a guest. */
  async function invited(inviterRole: string, role: string) {
    const [owner, inviter, guest] = [await newUser(), await newUser(), await newUser()];
    const organizationId = await owner.client.createOrganization();
    const { body } = await owner.client.bring(inviter, { organizationId, role: inviterRole });
    const sent = await inviter.client.post('/organization/invite-member', { email: guest.email, role, organizationId });
    expect(sent.status).to.equal(200);
    return { owner, inviter, guest, organizationId, memberId: body.member.id as string, id: sent.body.id as string };
  }

  const codes = async (guest: Client, id: string) => {
    const named = await service.client().get(`/organization/get-invitation-names?id=${id}`);
    const shown = await guest.get(`/organization/get-invitation?id=${id}`);
    const listed = await guest.get('/organization/list-user-invitations');
    const accepted = await guest.post('/organization/accept-invitation', { invitationId: id });
    return [named.body.code ?? named.status, shown.body.code ?? shown.status, listed.body.length, accepted.body.code ?? accepted.status];
  };

  const ended = [
    'INVITATION_NOT_FOUND',
    'INVITER_IS_NO_LONGER_A_MEMBER_OF_THE_ORGANIZATION',
    0,
    'INVITER_IS_NO_LONGER_A_MEMBER_OF_THE_ORGANIZATION',
  ];
  type Invited = Awaited<ReturnType<typeof invited>>;
  const ends: Record<string, [role: string, end: (given: Invited) => Promise<unknown>]> = {
    'was removed': [
      'owner',
      ({ owner, organizationId, memberId }) =>
        owner.client.post('/organization/remove-member', { organizationId, memberIdOrEmail: memberId }),
    ],
    left: ['member', ({ inviter, organizationId }) => inviter.client.post('/organization/leave', { organizationId })],
    'is a member now': [
      'member',
      ({ owner, organizationId, memberId }) =>
        owner.client.post('/organization/update-member-role', { organizationId, memberId, role: 'member' }),
    ],
    'is no owner any more and invited one': [
      'owner',
      ({ owner, organizationId, memberId }) =>
        owner.client.post('/organization/update-member-role', { organizationId, memberId, role: 'admin' }),
    ],
    'is banned': [
      'member',
      ({ inviter }) => service.db.updateTable('user').set({ banned: true }).where('id', '=', inviter.userId).execute(),
    ],
  };

  for (const [how, [role, end]] of Object.entries(ends))
    it(`ends when who sent it ${how}`, async () => {
      const given = await invited('owner', role);
      await end(given);
      expect(await codes(given.guest.client, given.id)).to.deep.equal(ended);
      const member = service.db.selectFrom('member').select('id').where('userId', '=', given.guest.userId);
      expect(await member.execute()).to.deep.equal([]);
    });

  it('tells whoever has its id who invites to what, and nothing else, until it is answered', async () => {
    const { guest, id } = await invited('owner', 'member');
    const named = async () => (await service.client().get(`/organization/get-invitation-names?id=${id}`)).body;
    const { organizationName, inviterName, ...rest } = await named();
    expect([organizationName, inviterName, rest]).to.deep.equal(['Acme', 'Somebody', {}]);
    await guest.client.post('/organization/reject-invitation', { invitationId: id });
    expect(await named()).to.include({ code: 'INVITATION_NOT_FOUND', defined: true });
  });

  it('is not listed for who was invited once it has run out', async () => {
    const { guest, id } = await invited('owner', 'member');
    await service.db
      .updateTable('invitation')
      .set({ expiresAt: new Date(0) })
      .where('id', '=', id)
      .execute();
    expect(await codes(guest.client, id)).to.deep.equal(['INVITATION_NOT_FOUND', 'INVITATION_NOT_FOUND', 0, 'INVITATION_NOT_FOUND']);
  });

  it('stands while its inviter could still make it, and again after a ban has run out', async () => {
    const demoted = await invited('owner', 'member');
    const { owner, organizationId, memberId } = demoted;
    await owner.client.post('/organization/update-member-role', { organizationId, memberId, role: 'admin' });
    expect(await codes(demoted.guest.client, demoted.id)).to.deep.equal([200, 200, 1, 200]);
    const banned = await invited('admin', 'admin');
    const ban = { banned: true, banExpires: new Date(Date.now() - 1_000) };
    await service.db.updateTable('user').set(ban).where('id', '=', banned.inviter.userId).execute();
    expect(await codes(banned.guest.client, banned.id)).to.deep.equal([200, 200, 1, 200]);
  });

  it('is that of who sends it again', async () => {
    const { owner, guest, organizationId, memberId, id } = await invited('owner', 'owner');
    await owner.client.post('/organization/remove-member', { organizationId, memberIdOrEmail: memberId });
    const again = await owner.client.post('/organization/invite-member', {
      email: guest.email,
      role: 'owner',
      organizationId,
      resend: true,
    });
    expect([again.status, again.body.id]).to.deep.equal([200, id]);
    expect(await codes(guest.client, id)).to.deep.equal([200, 200, 1, 200]);
  });

  it('that has run out, or was used, says so to who opens its link', async () => {
    const { guest, id } = await invited('owner', 'member');
    const shown = async () => (await guest.client.get(`/organization/get-invitation?id=${id}`)).body;
    const isOver = { code: 'INVITATION_NOT_FOUND', message: 'This invitation was used, withdrawn or has run out: ask for another one.' };
    await service.db
      .updateTable('invitation')
      .set({ expiresAt: new Date(Date.now() - 1_000) })
      .where('id', '=', id)
      .execute();
    expect(await shown()).to.include(isOver);
    expect((await guest.client.post('/organization/accept-invitation', { invitationId: id })).body).to.include(isOver);
  });

  it('has each role once, as a member has', async () => {
    const [owner, guest] = [await newUser(), await newUser()];
    const organizationId = await owner.client.createOrganization();
    const { body } = await owner.client.bring(guest, { organizationId, role: 'owner,owner,member' });
    expect([body.invitation.role, body.member.role]).to.deep.equal(['owner,member', 'owner,member']);
    const role = ['member', 'admin', 'member'];
    const changed = await owner.client.post('/organization/update-member-role', { organizationId, memberId: body.member.id, role });
    expect(changed.body.role).to.equal('member,admin');
  });
});
