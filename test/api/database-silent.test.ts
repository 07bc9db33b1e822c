import { expect } from 'chai';
import { sql } from 'kysely';
import type { Answer, Tenant } from '../support/api.ts';
import { summary } from '../support/jobs.ts';
import { untilWaiting } from '../support/locks.ts';
import { nightlySuite } from '../support/nightly.ts';
import { until } from '../support/processes.ts';
import { startDatabaseProxy, type TcpProxy } from '../support/tcp-proxy.ts';
import { useApi } from '../support/use-api.ts';

/** A client waits for an error for five seconds, to which a busy machine adds. */
const mostMs = 9_000;

nightlySuite('While the database says nothing', () => {
  const { api } = useApi({ process: true, env: { LIMITER_STORE: 'postgres' } });
  let tenant: Tenant;
  let proxy: TcpProxy;

  before(async () => {
    const through = await startDatabaseProxy(api.database.url);
    proxy = through.proxy;
    await api.stack.restart('api', { DATABASE_URL: through.url });
    tenant = await api.createTenant();
  });
  after(() => proxy.stop());

  const timed = async (answer: Promise<Answer>) => {
    const startedAt = performance.now();
    const got = await answer;
    return { ...got, ms: performance.now() - startedAt };
  };
  const me = () => api.request('GET', '/api/v1/me', { token: tenant.owner.token });
  const createWorkspace = (slug: string) => {
    const body = { organizationId: tenant.organizationId, name: slug, slug };
    return api.request('POST', '/api/v1/workspaces', { token: tenant.owner.token, body });
  };
  const signIn = () => api.request('POST', '/api/auth/sign-in/email', { body: { email: tenant.owner.email, password: 'a long password' } });

  async function refused(answer: Promise<Answer>, what: string): Promise<void> {
    const { status, headers, body, ms } = await timed(answer);
    expect({ status, ...body }, what).to.include({ status: 503, code: 'SERVICE_UNAVAILABLE' });
    expect(Number(headers.get('retry-after')), what).to.be.at.least(1);
    expect(ms, what).to.be.lessThan(mostMs);
  }

  /** Does `work` while nothing passes. Everything must work again afterwards. */
  async function inSilence(work: () => Promise<void>, { forget = false } = {}): Promise<void> {
    proxy.silence();
    try {
      await work();
    } finally {
      proxy.resume({ forget });
    }
    await until(async () => (await api.request('GET', '/readyz')).status === 200);
    // Each connection that was lost meanwhile fails once more, unless it was idle for ten seconds.
    await until(async () => (await me()).status === 200);
    // The server keeps the locks of a transaction whose client is gone, until it notices.
    let id = '';
    await until(async () => {
      const body = { organizationId: tenant.organizationId, ...summary };
      const created = await api.request('POST', '/api/v1/jobs', { token: tenant.owner.token, body });
      id = created.body.id;
      return created.status === 200;
    });
    await api.jobIn(tenant.owner.token, id, ['succeeded']);
  }

  for (const forget of [false, true]) {
    describe(`and then ${forget ? 'takes new connections alone' : 'goes on'}`, () => {
      it('requests under way and new ones are SERVICE_UNAVAILABLE', async () => {
        await Promise.all([me(), me(), me(), createWorkspace(`before-${forget}`), signIn()]);
        await inSilence(
          async () => {
            const first = [me(), createWorkspace(`during-${forget}`), signIn()];
            await Promise.all(first.map((answer, n) => refused(answer, `request ${n}`)));
            const ready = await timed(api.request('GET', '/readyz'));
            expect(ready.status).to.equal(503);
            for (let n = 0; n < 5; n++) await refused(me(), `request ${n} after the first`);
          },
          { forget },
        );
      });

      it('what has sent its query is SERVICE_UNAVAILABLE, too', async () => {
        await api.database.db.transaction().execute(async (trx) => {
          await sql`select from organization where id = ${tenant.organizationId} for update`.execute(trx);
          const waiting = createWorkspace(`waiting-${forget}`);
          await untilWaiting(api.database.db, 1);
          proxy.silence();
          await refused(waiting, 'the waiting request');
        });
        await inSilence(async () => {}, { forget });
      });
    });
  }

  it('nothing piles up', async () => {
    await inSilence(async () => {
      await refused(me(), 'the first request');
      for (let round = 0; round < 3; round++) {
        await Promise.all(Array.from({ length: 50 }, (_, n) => refused(me(), `request ${n} of round ${round}`)));
        expect(proxy.open).to.be.lessThan(30);
      }
    });
  });
});
