import { expect } from 'chai';
import { sql } from 'kysely';
import { jobStateOf } from '../../domain/jobs/job.ts';
import { billingOn } from '../api/auth/support/service.ts';
import { openJobStream } from '../support/event-stream.ts';
import { aiError, goodAnswer } from '../support/fake-ai.ts';
import { amountsOf, createJob, expectSoundLedger, summary } from '../support/jobs.ts';
import { nightly, nightlySuite } from '../support/nightly.ts';
import { until } from '../support/processes.ts';
import { withTimes } from '../support/times.ts';
import { useApi } from '../support/use-api.ts';

const minutes = 60_000;
const soon = { jobRetryDelays: [1_500, 1_500, 1_500] };

/** The variables of a program whose clock is wrong. */
function clockOff(shiftMs: number) {
  return { NODE_OPTIONS: '--import=./test/support/shift-clock.ts', CLOCK_SHIFT_MS: String(shiftMs) };
}

for (const [name, shifts] of Object.entries({
  'ahead in the API, behind in the worker': { api: 5 * minutes, worker: -5 * minutes, suite: describe },
  'behind in the API, ahead in the worker': { api: -5 * minutes, worker: 5 * minutes, suite: nightlySuite },
})) {
  shifts.suite(`A clock that is five minutes ${name}`, () => {
    const { api, ai, tenant } = useApi({ process: true, ai: true, services: ['api', 'worker'], env: withTimes(soon, billingOn) });
    before(async () => {
      await api.stack.restart('api', withTimes(soon, clockOff(shifts.api)));
      await api.stack.restart('worker', withTimes(soon, clockOff(shifts.worker)));
    });

    it('is really off', async () => {
      const { body } = await api.request('GET', '/api/v1/health');
      expect(Date.parse(body.time) - Date.now()).to.be.within(shifts.api - minutes, shifts.api + minutes);
    });

    it('loses no event of a stream that resumes, from its beginning or after a loss of notifications', async () => {
      const { organizationId, owner } = tenant;
      const begun = await fetch(`${api.url}/api/v1/organizations/${organizationId}/jobs/stream`, {
        headers: { authorization: `Bearer ${owner.token}` },
        signal: AbortSignal.timeout(60_000),
      });
      const lastEventId = begun.headers.get('last-event-id') ?? '';
      await begun.body?.cancel();
      const missed = await createJob(api, tenant, summary);
      await api.jobIn(owner.token, missed.id, ['succeeded']);
      const resumed = await openJobStream(api, { token: owner.token, organizationId, lastEventId });
      await resumed.first(({ data }) => data.id === missed.id && data.status === 'succeeded');
      resumed.close();

      const open = await openJobStream(api, { token: owner.token, organizationId });
      // A change of which nobody is told: the listener replays it for the open stream when it is back. It is committed before, since the
      // listener may be back soon.
      await api.database.db.transaction().execute(async (trx) => {
        await sql`alter table job disable trigger user`.execute(trx);
        await sql`update job set updated_at = clock_timestamp() where id = ${missed.id}`.execute(trx);
        await sql`alter table job enable trigger user`.execute(trx);
      });
      await sql`
        select pg_terminate_backend(pid) from pg_stat_activity
        where datname = current_database() and application_name = 'sheaf listen'
      `.execute(api.database.db);
      await open.first(({ data }) => data.id === missed.id);
      open.close();
    });

    nightly('changes neither the plan, the credits, nor the wait of a retry', async () => {
      const { db } = api.database;
      const { token } = tenant.owner;
      // Past due, with the end of its days of dunning a minute from now.
      await sql`
        insert into subscription (id, plan, "referenceId", status, "periodStart", "periodEnd", "pastDueSince")
        values ('sub', 'pro', ${tenant.organizationId}, 'past_due', now() - interval '14 days', now() - interval '14 days' + interval '1 minute',
          now() - interval '14 days' + interval '1 minute')
      `.execute(db);
      const plan = async () => (await api.request('GET', `/api/v1/organizations/${tenant.organizationId}/billing`, { token })).body.plan;
      expect(await plan()).to.equal('pro');
      await sql`update subscription set "pastDueSince" = "pastDueSince" - interval '2 minutes'`.execute(db);
      expect(await plan()).to.equal('free');

      let asked = 0;
      ai.behave('summarize', (call) => (++asked === 1 ? aiError(500, 'internal_error') : goodAnswer(call)));
      const { id } = await createJob(api, tenant, summary);
      const done = await api.jobIn(token, id, ['succeeded']);
      expect(done.attempts).to.equal(2);
      expect(await amountsOf(api, id)).to.deep.equal([5]);
      await expectSoundLedger(api);

      const [row] = await db
        .updateTable('job')
        .set({ status: 'queued', finished_at: null, result: null, next_attempt_at: sql`now() + interval '2 minutes'` })
        .where('id', '=', id)
        .returningAll()
        .execute();
      const realNow = Date.now;
      Date.now = () => realNow() + shifts.worker;
      try {
        const state = await jobStateOf(db, row);
        expect(state).to.include({ status: 'queued' });
        expect('delayMs' in state && state.delayMs).to.be.within(minutes, 2 * minutes);
      } finally {
        Date.now = realNow;
        await db.deleteFrom('job').where('id', '=', id).execute();
      }
    });

    nightly('lets signed links and sessions of one replica hold at another', async () => {
      const document = await api.upload(tenant, { bytes: 'signed by one, served by another' });
      const { token } = tenant.owner;
      const link = (await api.request('GET', `/api/v1/documents/${document.id}/download-url`, { token })).body;
      expect(Date.parse(link.expiresAt) - Date.now()).to.be.within(4 * minutes, 6 * minutes);
      const late = await api.signUp();
      await api.stack.restart('api', clockOff(-shifts.api));
      expect((await fetch(link.url)).status).to.equal(200);
      expect((await api.request('GET', '/api/v1/me', { token: late.token })).status).to.equal(200);
      await until(async () => (await api.request('GET', '/readyz')).status === 200);
    });
  });
}
