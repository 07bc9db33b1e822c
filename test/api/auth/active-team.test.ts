import { expect } from 'chai';
import { useAuthService } from './support/use-auth-service.ts';

describe('The active team of a session', () => {
  const service = useAuthService();

  /** A member of an organization with a team, which is the active one. */
  async function inTeam() {
    const [owner, member] = [service.client(), service.client()];
    await owner.enter();
    const user = await member.enter();
    const organizationId = await owner.createOrganization();
    const { body } = await owner.bring({ client: member, email: user.email }, { organizationId });
    const team = await owner.post('/organization/create-team', { name: 'Team', organizationId });
    const named = { teamId: team.body.id, userId: user.userId, organizationId };
    expect((await owner.post('/organization/add-team-member', named)).status).to.equal(200);
    expect((await member.post('/organization/set-active-team', { teamId: team.body.id })).status).to.equal(200);
    const activeTeam = async () => (await member.get('/get-session')).body.session.activeTeamId;
    expect(await activeTeam()).to.equal(team.body.id);
    return { owner, member, organizationId, memberId: body.member.id, team: named, activeTeam };
  }

  it('ends with a change of the organization, and not with the choice of the same one', async () => {
    const { member, organizationId, team, activeTeam } = await inTeam();
    await member.post('/organization/set-active', { organizationId });
    expect(await activeTeam()).to.equal(team.teamId);
    await member.createOrganization();
    expect(await activeTeam()).to.equal(null);
    await member.post('/organization/set-active', { organizationId });
    await member.post('/organization/set-active-team', { teamId: team.teamId });
    await member.post('/organization/set-active', { organizationId: null });
    expect(await activeTeam()).to.equal(null);
  });

  it('ends with the membership in it, or in its organization, and with the team', async () => {
    const [removed, left, outOfTeam, gone] = [await inTeam(), await inTeam(), await inTeam(), await inTeam()];
    const { organizationId } = removed;
    await removed.owner.post('/organization/remove-member', { organizationId, memberIdOrEmail: removed.memberId });
    await left.member.post('/organization/leave', { organizationId: left.organizationId });
    await outOfTeam.owner.post('/organization/remove-team-member', outOfTeam.team);
    await gone.owner.post('/organization/remove-team', gone.team);
    for (const { activeTeam } of [removed, left, outOfTeam, gone]) expect(await activeTeam()).to.equal(null);
  });
});
