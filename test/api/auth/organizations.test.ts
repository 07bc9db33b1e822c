import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { findMembership, isPermitted } from '../../../api/auth/membership.ts';
import type { Client } from './support/client.ts';
import { webOrigin } from './support/service.ts';
import { useAuthService } from './support/use-auth-service.ts';

describe('Organizations', () => {
  const service = useAuthService();
  let owner: Client;
  let ownerId: string;
  let organizationId: string;
  beforeEach(async () => {
    owner = service.client();
    ({ userId: ownerId } = await owner.enter('Owner'));
    organizationId = await owner.createOrganization();
  });

  async function newMember(role = 'member') {
    const client = service.client();
    const user = await client.enter();
    const accepted = await owner.bring({ client, email: user.email }, { organizationId, role });
    expect(accepted.status).to.equal(200);
    return { client, ...user, memberId: accepted.body.member.id as string };
  }

  it('make who creates one its owner, and nothing else', async () => {
    expect(await findMembership(service.db, organizationId, ownerId)).to.deep.equal(['owner']);
    const { rows } = await service.database.pool.query('select from team where "organizationId" = $1', [organizationId]);
    expect(rows).to.deep.equal([]);
  });

  it('have a unique slug of the form that a deletion is confirmed with', async () => {
    for (const slug of ['UPPER', 'a', '-ab', 'ab-', 'a b', 'a'.repeat(49), 'ü-ü']) {
      const answer = await owner.post('/organization/create', { name: 'Bad', slug });
      expect(answer.status, slug).to.equal(400);
      expect(answer.body.code).to.equal('INVALID_SLUG');
      expect((await owner.post('/organization/update', { organizationId, data: { slug } })).status, slug).to.equal(400);
    }
    const twins = await Promise.all([1, 2, 3, 4].map(() => owner.post('/organization/create', { name: 'Twin', slug: 'twin' })));
    expect(twins.map(({ status }) => status).sort()).to.deep.equal([200, 400, 400, 400]);
    expect(twins.find(({ status }) => status === 400)?.body.code).to.equal('ORGANIZATION_ALREADY_EXISTS');
  });

  it('take members by invitation, with a link to the web app in the mail', async () => {
    const client = service.client();
    const { userId, email } = await client.enter();
    const invited = await owner.post('/organization/invite-member', { email: email.toUpperCase(), role: 'admin', organizationId });
    expect(invited.status).to.equal(200);
    const mail = service.mails.find(({ to }) => to === email);
    expect(mail?.text).to.include(`${webOrigin}/accept-invitation/${invited.body.id}`);
    const stranger = service.client();
    await stranger.enter();
    expect((await stranger.post('/organization/accept-invitation', { invitationId: invited.body.id })).status).to.equal(403);
    const accepted = await client.post('/organization/accept-invitation', { invitationId: invited.body.id });
    expect(accepted.status).to.equal(200);
    expect(await findMembership(service.db, organizationId, userId)).to.deep.equal(['admin']);
    expect((await client.post('/organization/accept-invitation', { invitationId: invited.body.id })).status).to.equal(400);
  });

  it('put no line of an inviter’s name into the headers of a mail', async () => {
    // Names that were stored before they were checked may have lines.
    const name = 'Acme\r\nBcc: everyone@example.com';
    await service.db.updateTable('organization').set({ name }).where('id', '=', organizationId).execute();
    await owner.post('/organization/invite-member', { email: 'lines@example.com', role: 'member', organizationId });
    expect(service.mails.at(-1)?.subject).to.equal('Invitation to “Acme Bcc: everyone example com”');
  });

  it('make no link of a name in a mail, and show little of it', async () => {
    const client = service.client();
    await client.enter();
    const advertisement = `Win money at https://evil.example/win?a=b, www.evil.example, evil\u3002example or me@evil.example ${'now '.repeat(10)}`;
    const organization = await client.createOrganization(advertisement.slice(0, 79).trim());
    expect((await client.post('/update-user', { name: advertisement.slice(13).trim() })).status).to.equal(200);
    await client.post('/organization/invite-member', { email: 'stranger@example.com', role: 'member', organizationId: organization });
    const { subject = '', text = '' } = service.mails.at(-1) ?? {};
    const [link = '', ...others] = text.match(/\S+:\/\/\S+|\S+@\S+|[^\s.]+[.\u3002][^\s.]\S*/gu) ?? [];
    expect([link.startsWith(`${webOrigin}/accept-invitation/`), others]).to.deep.equal([true, []]);
    expect(subject).to.equal('Invitation to “Win money at https evil example win?a=b, www evil example, e…”');
    expect(text.split('\n')[0]?.length).to.be.lessThan(180);
  });

  it('let one and the same invitation be accepted once, however often it is tried at once', async () => {
    const client = service.client();
    const { userId, email } = await client.enter();
    const invited = await owner.post('/organization/invite-member', { email, role: 'member', organizationId });
    const answers = await Promise.all(
      [1, 2, 3].map(() => client.post('/organization/accept-invitation', { invitationId: invited.body.id })),
    );
    expect(answers.filter(({ status }) => status === 200)).to.have.length(1);
    const members = await service.db.selectFrom('member').select('id').where('userId', '=', userId).execute();
    expect(members).to.have.length(1);
  });

  it('keep the state of an invitation that is settled', async () => {
    const { memberId } = await newMember();
    const invitation = await service.db
      .selectFrom('invitation')
      .select('id')
      .where('organizationId', '=', organizationId)
      .executeTakeFirstOrThrow();
    const canceled = await owner.post('/organization/cancel-invitation', { invitationId: invitation.id });
    expect(canceled).to.have.property('status', 409);
    expect(canceled.body.code).to.equal('INVITATION_NOT_PENDING');
    expect(await service.db.selectFrom('member').select('id').where('id', '=', memberId).execute()).to.have.length(1);
    const pending = await owner.post('/organization/invite-member', { email: 'gone@example.com', role: 'member', organizationId });
    expect((await owner.post('/organization/cancel-invitation', { invitationId: pending.body.id })).status).to.equal(200);
  });

  it('let owners and admins invite, admins no owners, and members nobody', async () => {
    const admin = (await newMember('admin')).client;
    const member = (await newMember()).client;
    const invite = (client: Client, role: string | string[]) =>
      client.post('/organization/invite-member', { email: `${Math.random()}@example.com`, role, organizationId });
    expect((await invite(admin, 'admin')).status).to.equal(200);
    expect((await invite(member, 'member')).status).to.equal(403);
    for (const role of ['owner', 'member,owner', 'member, owner', ['member', ' owner'], 'member,owner ']) {
      expect((await invite(admin, role)).status, String(role)).to.be.oneOf([400, 403]);
    }
    expect((await invite(owner, 'keeper')).status).to.equal(400);
    expect((await invite(owner, ['admin', 'member'])).status).to.equal(200);
  });

  it('show invitations to those who may invite, and those of owners to owners only, who alone send them again', async () => {
    const [admin, member] = [await newMember('admin'), await newMember()];
    const invited = async (role: string) => {
      const email = `${randomUUID()}@example.com`;
      await owner.post('/organization/invite-member', { email, role, organizationId });
      return email;
    };
    const [asOwner, asMember] = [await invited('owner'), await invited('member')];
    const seen = async (client: Client) => {
      const { status, body } = await client.get(`/organization/list-invitations?organizationId=${organizationId}`);
      const full = await client.get(`/organization/get-full-organization?organizationId=${organizationId}`);
      const emails = (list: { email: string }[]) => list.map(({ email }) => email).filter((email) => [asOwner, asMember].includes(email));
      return { status, listed: status === 200 ? emails(body) : [], inFull: emails(full.body.invitations) };
    };
    const both = [asOwner, asMember];
    const { listed, inFull } = await seen(owner);
    expect([listed, inFull].map((emails) => emails.toSorted())).to.deep.equal([both.toSorted(), both.toSorted()]);
    expect(await seen(admin.client)).to.deep.equal({ status: 200, listed: [asMember], inFull: [asMember] });
    expect(await seen(member.client)).to.deep.equal({ status: 403, listed: [], inFull: [] });

    const again = (role: string) =>
      admin.client.post('/organization/invite-member', { email: asOwner, role, organizationId, resend: true });
    expect((await again('member')).status).to.equal(403);
    expect(service.mails.filter(({ to }) => to === asOwner)).to.have.length(1);
  });

  it('let roles be changed by those who may, and take effect at once', async () => {
    const { client, userId, memberId } = await newMember();
    const admin = await newMember('admin');
    const change = (by: Client, of: string, role: string) =>
      by.post('/organization/update-member-role', { memberId: of, role, organizationId });
    expect((await change(client, memberId, 'admin')).status).to.equal(403);
    expect((await change(admin.client, memberId, 'owner')).status).to.equal(403);
    expect(await isPermitted(service.db, organizationId, userId, 'auditLog:read')).to.equal(false);
    expect((await change(admin.client, memberId, 'admin')).status).to.equal(200);
    expect(await isPermitted(service.db, organizationId, userId, 'auditLog:read')).to.equal(true);
    expect(await isPermitted(service.db, organizationId, userId)).to.equal(true);
    expect(await isPermitted(service.db, organizationId, 'nobody')).to.equal(false);
  });

  it('lose a member who leaves or is removed, with the teams of that organization', async () => {
    const { client, userId, memberId } = await newMember();
    const team = await owner.post('/organization/create-team', { name: 'Blue', organizationId });
    await owner.post('/organization/add-team-member', { teamId: team.body.id, userId, organizationId });
    expect((await client.post('/organization/remove-member', { memberIdOrEmail: memberId, organizationId })).status).to.equal(403);
    expect((await owner.post('/organization/remove-member', { memberIdOrEmail: memberId, organizationId })).status).to.equal(200);
    expect(await findMembership(service.db, organizationId, userId)).to.equal(undefined);
    const { rows } = await service.database.pool.query('select from "teamMember" where "userId" = $1', [userId]);
    expect(rows).to.deep.equal([]);
    const another = await newMember();
    expect((await another.client.post('/organization/leave', { organizationId })).status).to.equal(200);
  });

  it('always have an owner, also when two leave or step down at once', async () => {
    expect((await owner.post('/organization/leave', { organizationId })).status).to.equal(400);
    const second = await newMember('owner');
    const members = () =>
      service.db.selectFrom('member').selectAll().where('organizationId', '=', organizationId).orderBy('userId').execute();
    const owners = await members();
    const own = owners.find(({ userId }) => userId === ownerId);
    for (let round = 0; round < 15; round++) {
      const answers = await Promise.all([
        owner.post('/organization/update-member-role', { memberId: own?.id, role: 'admin', organizationId }),
        second.client.post('/organization/leave', { organizationId }),
      ]);
      expect(
        answers.filter(({ status }) => status === 200),
        `round ${round}`,
      ).to.have.length(1);
      expect(
        (await members()).filter(({ role }) => role === 'owner'),
        `round ${round}`,
      ).to.have.length(1);
      await service.db
        .insertInto('member')
        .values(owners)
        .onConflict((row) => row.column('id').doUpdateSet({ role: 'owner' }))
        .execute();
    }
  });

  it('take nobody and nothing once their deletion has begun', async () => {
    const pending = service.client();
    const { email } = await pending.enter();
    const invited = await owner.post('/organization/invite-member', { email, role: 'member', organizationId });
    await service.db.insertInto('organization_deletion').values({ organization_id: organizationId }).execute();
    const answers = await Promise.all([
      pending.post('/organization/accept-invitation', { invitationId: invited.body.id }),
      owner.post('/organization/invite-member', { email: 'late@example.com', role: 'member', organizationId }),
      owner.post('/organization/create-team', { name: 'Late', organizationId }),
    ]);
    for (const { status, body } of answers)
      expect({ status, code: body.code }).to.deep.equal({ status: 404, code: 'ORGANIZATION_BEING_DELETED' });
    await service.db.deleteFrom('organization').where('id', '=', organizationId).execute();
    expect(await service.db.selectFrom('member').select('id').where('organizationId', '=', organizationId).execute()).to.deep.equal([]);
  });

  it('list their members in pages, also in one that is empty', async () => {
    await newMember();
    const list = async (query: string) => {
      const { status, body } = await owner.get(`/organization/list-members?organizationId=${organizationId}&${query}`);
      return [status, body.members.length, body.total];
    };
    expect(await list('limit=1&offset=1')).to.deep.equal([200, 1, 2]);
    expect(await list('offset=2')).to.deep.equal([200, 0, 2]);
    expect(await list('filterField=role&filterValue=admin')).to.deep.equal([200, 0, 0]);
  });

  it('hold more members than better-auth’s own limit of a hundred, and list them all', async () => {
    const values = Array.from({ length: 120 }, (_, index) => ({
      id: `bulk-${index}`,
      name: `U${index}`,
      email: `bulk-${index}@example.com`,
    }));
    await service.db.insertInto('user').values(values).execute();
    await service.db
      .insertInto('member')
      .values(values.map(({ id }) => ({ id: `m-${id}`, userId: id, organizationId })))
      .execute();
    await newMember();
    const full = await owner.get(`/organization/get-full-organization?organizationId=${organizationId}`);
    expect(full.body.members).to.have.length(122);
    const listed = await owner.get(`/organization/list-members?organizationId=${organizationId}`);
    expect(listed.body.members).to.have.length(122);
  });
});
