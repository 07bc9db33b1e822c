import { expect } from 'chai';
import { patientLocks, untilWaiting } from '../../support/locks.ts';
import { useApi } from '../../support/use-api.ts';

describe('The acceptance of an invitation', () => {
  const { api, tenant } = useApi({ process: true, env: patientLocks });

  it('can be repeated if the process was killed in the middle of it', async () => {
    const { organizationId, owner } = tenant;
    const guest = await api.signUp();
    const body = { email: guest.email, role: 'member', organizationId };
    const invitation = await api.request('POST', '/api/auth/organization/invite-member', { token: owner.token, body });
    const accept = () =>
      api.request('POST', '/api/auth/organization/accept-invitation', { token: guest.token, body: { invitationId: invitation.body.id } });
    const lock = await api.database.pool.connect();
    await lock.query('begin; lock table member in share mode');
    const cutOff = accept().catch(() => undefined);
    await untilWaiting(api.database.db, 1);
    await api.stack.kill('api', 'SIGKILL');
    await lock.query('rollback');
    lock.release();
    expect(await cutOff).to.equal(undefined);

    await api.stack.start('api');
    const accepted = await accept();
    expect(accepted.status, JSON.stringify(accepted.body)).to.equal(200);
    expect(accepted.body.member).to.include({ organizationId, userId: guest.id, role: 'member' });
  });
});
