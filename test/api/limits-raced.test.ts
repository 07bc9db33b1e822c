import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { settleAttempt } from '../../domain/jobs/settle-attempt.ts';
import type { Answer, TestUser } from '../support/api.ts';
import { summary } from '../support/jobs.ts';
import { untilWaiting } from '../support/locks.ts';
import { callOver, transports } from '../support/transports.ts';
import { useApi } from '../support/use-api.ts';
import { billingOn } from './auth/support/service.ts';
import { patient, useBounds } from './support/use-bounds.ts';

const racers = 20;
/** So many wait at the row before it is let go: a race, and fewer than the 19 connections that one organization may hold for its writes. */
const atOnce = 8;
const limits = { PLANS: '{"free":{"workspaces":2,"members":2,"aiCredits":6,"storageBytes":100}}' };

describe(`${racers} requests at once for the last that a plan allows: one gets it, each other LIMIT_REACHED`, () => {
  // Enough connections for the racers to wait for the lock, and not for their turn to write.
  const env = {
    ...billingOn,
    DATABASE_POOL_SIZE: '64',
    STRIPE_API_BASE: 'http://127.0.0.1:9',
    WORKER_ENABLED: 'false',
    ...limits,
  };
  useBounds(patient);
  const { api, ai, tenant } = useApi({ ai: true, env, tenant: 'of each test', check: 'after each test' });
  before(() => {
    ai.provider = 'remote';
  });

  /**
   * Sends requests at once, and holds the row of the organization until many wait for it: under the lock that they take to count, or else,
   * if they had counted before, when they write a row of the organization.
   */
  async function together(...requests: ((index: number) => Promise<Answer>)[]): Promise<Answer[][]> {
    const { db, pool } = api.database;
    const holder = await pool.connect();
    try {
      await holder.query('begin');
      await holder.query('select from organization where id = $1 for update', [tenant.organizationId]);
      const answers = Promise.all(requests.map((request) => Promise.all(Array.from({ length: racers }, (_, index) => request(index)))));
      await untilWaiting(db, atOnce);
      await holder.query('commit');
      return await answers;
    } finally {
      holder.release();
    }
  }
  /** Over both transports in turn. */
  const call = (index: number, operation: string, input: Record<string, unknown>) =>
    callOver(api, transports[index % transports.length] ?? 'REST', operation, input, { token: tenant.owner.token });
  const usage = async () => {
    const { organizationId, owner } = tenant;
    return (await api.request('GET', `/api/v1/organizations/${organizationId}/usage`, { token: owner.token })).body.usage;
  };
  const auth = (user: TestUser, path: string, body: object) =>
    api.request('POST', `/api/auth/organization${path}`, { token: user.token, body });
  const invite = (email: string) => auth(tenant.owner, '/invite-member', { email, role: 'member', organizationId: tenant.organizationId });

  /** One request was taken; each other was refused, with this error and nothing else. */
  function expectOneWinner(answers: { status: number; body: unknown }[], kind: string, limit: number): void {
    const refused = answers.filter(({ status }) => status !== 200);
    expect(refused.length, JSON.stringify(answers.map(({ status }) => status))).to.equal(racers - 1);
    for (const { status, body } of refused) {
      expect(status).to.equal(403);
      expect(body).to.deep.equal({
        ...{ defined: true, code: 'LIMIT_REACHED', status: 403, message: 'This organization has reached a limit of its plan.' },
        data: { kind, limit, plan: 'free', ...(kind === 'aiCredits' && { scope: 'organization' }) },
      });
    }
  }

  it('credit, for jobs and searches', async () => {
    const { organizationId, workspaceId } = tenant;
    expect((await call(0, 'jobs.create', { ...summary, organizationId })).status).to.equal(200);
    const [answers = []] = await together((index) =>
      index % 4 < 2
        ? call(index, 'jobs.create', { kind: 'text.embed', organizationId, texts: ['one'] })
        : call(index, 'documents.search', { workspaceId, query: 'mirrors' }),
    );
    expectOneWinner(answers, 'aiCredits', 6);
    expect((await usage()).aiCredits).to.equal(6);
  });

  it('credits, for retries of one job', async () => {
    const { organizationId } = tenant;
    const { body: job } = await call(0, 'jobs.create', { ...summary, organizationId });
    const failure = { code: 'unreadable', message: 'It cannot be read.', retryable: false };
    await settleAttempt(api.database.db, { jobId: job.id, claimedBy: 'nobody', failure }, []);
    const [answers = []] = await together((index) => call(index, 'jobs.retry', { id: job.id }));
    expectOneWinner(answers, 'aiCredits', 6);
    expect((await usage()).aiCredits).to.equal(5);
  });

  it('member, for acceptances after a downgrade', async () => {
    const subscription = { id: randomUUID(), plan: 'pro', referenceId: tenant.organizationId, status: 'active' };
    const { db } = api.database;
    await db.insertInto('subscription').values(subscription).execute();
    const guests: { guest: TestUser; invitationId: string }[] = [];
    for (let index = 0; index < racers; index++) {
      const guest = await api.signUp();
      guests.push({ guest, invitationId: (await invite(guest.email)).body.id });
    }
    await db.deleteFrom('subscription').where('id', '=', subscription.id).execute();

    const [answers = []] = await together(async (index) => {
      const { guest, invitationId } = guests[index] ?? { guest: tenant.owner, invitationId: '' };
      return await auth(guest, '/accept-invitation', { invitationId });
    });

    expectOneWinner(answers, 'members', 2);
    expect(await usage()).to.include({ members: 2, pendingInvitations: racers - 1 });
  });

  it('of everything at once: no request stands in the way of another, or fails otherwise', async () => {
    const { organizationId, workspaceId } = tenant;
    const requests = [
      (index: number) => call(index, 'workspaces.create', { organizationId, name: 'Another', slug: `another-${index}` }),
      (index: number) => call(index, 'documents.createUpload', { workspaceId, name: 'a.txt', contentType: 'text/plain', size: 60 }),
      (index: number) => call(index, 'jobs.create', { ...summary, organizationId }),
      () => invite(`${randomUUID()}@example.com`),
    ];
    const answers = await together(...requests);
    for (const [index, [kind, limit]] of [
      ['workspaces', 2],
      ['storageBytes', 100],
      ['aiCredits', 6],
      ['members', 2],
    ].entries()) {
      expectOneWinner(answers[index] ?? [], String(kind), Number(limit));
    }
    expect(await usage()).to.include({ workspaces: 2, aiCredits: 5, members: 1, pendingInvitations: 1 });
  });
});
