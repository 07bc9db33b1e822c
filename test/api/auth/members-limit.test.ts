import { expect } from 'chai';
import { getPlan } from '../../../domain/billing/plan.ts';
import { syncPlanLimits } from '../../../domain/billing/sync-plan-limits.ts';
import { getUsage } from '../../../domain/organizations/get-usage.ts';
import type { Client } from './support/client.ts';
import { billingOn } from './support/service.ts';
import { useAuthService } from './support/use-auth-service.ts';

describe('The members limit', () => {
  const service = useAuthService({ ...billingOn, PLANS: '{"free":{"members":3},"pro":{"members":6}}' });
  let owner: Client;
  let organizationId: string;
  beforeEach(async () => {
    await syncPlanLimits(service.db, service.config);
    owner = service.client();
    await owner.enter();
    organizationId = await owner.createOrganization();
  });

  let guests = 0;
  const invite = (email = `guest-${++guests}@example.com`) =>
    owner.post('/organization/invite-member', { email, role: 'member', organizationId });
  const limitTo = (members: number) => service.db.updateTable('plan_limit').set({ members }).where('plan', '=', 'free').execute();

  async function countSeats() {
    const members = await service.db.selectFrom('member').select('id').where('organizationId', '=', organizationId).execute();
    const pending = await service.db
      .selectFrom('invitation')
      .select('id')
      .where('organizationId', '=', organizationId)
      .where('status', '=', 'pending')
      .execute();
    return { members: members.length, pending: pending.length };
  }

  const newGuest = () => service.newUser();
  type Guest = Awaited<ReturnType<typeof newGuest>>;

  /** Invites a guest, and returns what accepts the invitation. */
  async function invited(guest: Guest) {
    const { status, body } = await invite(guest.email);
    expect(status).to.equal(200);
    return () => guest.client.post('/organization/accept-invitation', { invitationId: body.id });
  }

  /** Ends a round: nobody but the owner is a member, and nothing is pending. */
  async function clear() {
    await service.db.deleteFrom('member').where('organizationId', '=', organizationId).where('role', '=', 'member').execute();
    await service.db.deleteFrom('invitation').where('organizationId', '=', organizationId).execute();
  }

  it('counts members and pending invitations when somebody is invited', async () => {
    expect((await invite()).status).to.equal(200);
    expect((await invite()).status).to.equal(200);
    const refused = await invite();
    expect(refused.status).to.equal(403);
    expect(refused.body).to.deep.equal({
      defined: true,
      code: 'LIMIT_REACHED',
      status: 403,
      message: 'This organization has reached a limit of its plan.',
      data: { kind: 'members', limit: 3, plan: 'free' },
    });
  });

  it('counts no invitation that cannot be accepted since its inviter was removed', async () => {
    const inviter = await newGuest();
    const joined = await (await invited(inviter))();
    await service.db.updateTable('member').set({ role: 'admin' }).where('id', '=', joined.body.member.id).execute();
    const sent = await inviter.client.post('/organization/invite-member', { email: 'late@example.com', role: 'member', organizationId });
    expect(sent.status).to.equal(200);
    expect((await invite()).status).to.equal(403);
    await owner.post('/organization/remove-member', { organizationId, memberIdOrEmail: joined.body.member.id });
    expect((await getUsage(service.db, organizationId)).pendingInvitations).to.equal(0);
    // Two seats beside the owner's.
    expect([(await invite()).status, (await invite()).status, (await invite()).status]).to.deep.equal([200, 200, 403]);
  });

  it('counts no invitation that was canceled, rejected or has expired', async () => {
    const first = await invite();
    await invite();
    await owner.post('/organization/cancel-invitation', { invitationId: first.body.id });
    expect((await invite()).status).to.equal(200);
    expect((await invite()).status).to.equal(403);
    await service.db
      .updateTable('invitation')
      .set({ expiresAt: new Date(Date.now() - 1000) })
      .where('organizationId', '=', organizationId)
      .execute();
    expect((await invite()).status).to.equal(200);
  });

  it('lets an invited one in when every seat is taken by a member or an invitation', async () => {
    const accept = await invited(await newGuest());
    await invite();
    expect((await accept()).status).to.equal(200);
    expect((await invite()).status).to.equal(403);
  });

  it('gives nobody the seat of an acceptance that is under way', async () => {
    const guest = await newGuest();
    await limitTo(2);
    for (let round = 0; round < 20; round++) {
      const accept = await invited(guest);
      const [accepted, ...others] = await Promise.all([accept(), invite(), invite(), invite()]);
      expect(accepted?.status, `round ${round}`).to.equal(200);
      expect(others.map(({ status }) => status)).to.deep.equal([403, 403, 403]);
      await clear();
    }
  }).timeout(120_000);

  it('leaves an invitation pending that could not be accepted', async () => {
    const accept = await invited(await newGuest());
    await limitTo(1);
    expect((await accept()).status).to.equal(403);
    expect(await countSeats()).to.deep.equal({ members: 1, pending: 1 });
    await limitTo(2);
    expect((await accept()).status).to.equal(200);
  });

  describe('of a plan', () => {
    const subscribe = (values: { plan?: string; status: string; periodStart?: Date; periodEnd?: Date | null }) =>
      service.db
        .insertInto('subscription')
        .values({ id: `s-${++guests}`, referenceId: organizationId, plan: 'pro', ...values })
        .execute();
    const planOf = async (config = service.config) => (await getPlan(service.db, config, organizationId))?.plan;

    it('is that of the subscription while it is live', async () => {
      expect(await getPlan(service.db, service.config, organizationId)).to.deep.equal({ plan: 'free', limits: service.config.plans.free });
      await subscribe({ status: 'active' });
      expect(await getPlan(service.db, service.config, organizationId)).to.deep.equal({ plan: 'pro', limits: service.config.plans.pro });
      const answers = await Promise.all(Array.from({ length: 8 }, () => invite()));
      expect(answers.filter(({ status }) => status === 200)).to.have.length(5);
      expect(answers.find(({ status }) => status === 403)?.body.data).to.include({ limit: 6, plan: 'pro' });
      await subscribe({ status: 'trialing', plan: 'team' });
      expect(await planOf()).to.equal('team');
    });

    it('is nothing while billing is off', async () => {
      const billingOff = { ...service.config, billing: { ...service.config.billing, enabled: false } };
      expect(await getPlan(service.db, billingOff, organizationId)).to.equal(null);
      await Promise.all([syncPlanLimits(service.db, billingOff), syncPlanLimits(service.db, billingOff)]);
      const answers = await Promise.all(Array.from({ length: 8 }, () => invite()));
      expect(answers.filter(({ status }) => status === 200)).to.have.length(8);
      await Promise.all(Array.from({ length: 5 }, () => syncPlanLimits(service.db, service.config)));
      expect((await invite()).status).to.equal(403);
    });
  });
});
