import { expect } from 'chai';
import { sql } from 'kysely';
import { inTransaction } from '../../db/transaction.ts';
import { systemActor } from '../../domain/audit.ts';
import { claimJob } from '../../domain/jobs/claim-job.ts';
import { noteDown } from '../../domain/outages/note-down.ts';
import { endOutage, sweepOutages } from '../../domain/outages/note-up.ts';
import { releaseWaiting } from '../../domain/outages/release-waiting.ts';
import type { Tenant } from '../support/api.ts';
import { answerLate, goodAnswer, providerError } from '../support/fake-ai.ts';
import { amountsOf, createJob, creditsUsed, summary } from '../support/jobs.ts';
import { nightly } from '../support/nightly.ts';
import { opsResult, runOps } from '../support/ops.ts';
import { until } from '../support/processes.ts';
import { withTimes } from '../support/times.ts';
import { useApi } from '../support/use-api.ts';

const probeMs = 300;
const embedding = { kind: 'text.embed', texts: ['a'] };

describe('While a provider is down', () => {
  const { api, ai, tenant } = useApi({
    ai: true,
    check: 'after each test',
    env: withTimes(
      { jobRetryDelays: [100], outageProbes: [probeMs, 2 * probeMs], outageSlot: 200 },
      { EXTRA_JOB_KINDS: 'document.process' },
    ),
  });
  afterEach(async () => {
    for (const operation of ['summarize', 'embed', 'extract'] as const) ai.behave(operation);
    for (const part of ['chat', 'embed', 'vision', 'ai-service'] as const)
      await inTransaction(db(), (trx) => endOutage(trx, systemActor, part));
    // What a test leaves behind would probe in the next one.
    await until(
      async () => (await db().selectFrom('job').select('id').where('status', 'in', ['queued', 'running']).execute()).length === 0,
      60_000,
    );
  });

  const db = () => api.database.db;
  const job = (id: string, statuses: string[], of: Tenant = tenant) => api.jobIn(of.owner.token, id, statuses, 60_000);
  const outages = () => db().selectFrom('provider_outage').select(['part', 'cause', 'failed_probes']).execute();
  const waitingJobs = async () =>
    (await db().selectFrom('job').select('id').where('waiting_since', 'is not', null).where('status', '=', 'queued').execute()).length;
  const isDown = (part: 'chat' | 'embed' | 'vision' | 'ai-service') =>
    noteDown(db(), { part, cause: 'failing' }, { isProbe: false, probeDelaysMs: [60_000] });

  it('jobs of all tenants wait without an attempt, probed by one at a time, and all succeed once it is back', async () => {
    const tenants = [tenant, await api.createTenant(), await api.createTenant()];
    let [isAway, running, most] = [true, 0, 0];
    ai.behave('summarize', async (call) => {
      most = Math.max(most, ++running);
      const answer = isAway ? providerError('chat', 'failing') : goodAnswer(call);
      await answerLate(20)(call);
      running--;
      return answer;
    });
    const first = await createJob(api, tenant, summary);
    await until(async () => (await outages()).length === 1);
    const ids: [Tenant, string][] = [[tenant, first.id]];
    for (let n = 0; n < 12; n++) for (const each of tenants) ids.push([each, (await createJob(api, each, summary)).id]);
    const probes = async () => (await outages())[0]?.failed_probes ?? 0;
    const before = await probes();
    most = 0;
    await until(async () => (await waitingJobs()) > 33 && (await probes()) >= before + 3, 60_000);
    expect(most, 'probes at once').to.equal(1);
    let shown: any;
    await until(async () => {
      shown = await job(ids.at(-1)?.[1] ?? '', ['queued'], ids.at(-1)?.[0]);
      return shown.waiting !== undefined;
    });
    expect(shown).to.include({ waiting: 'provider', attempts: 0 });
    expect(shown.nextAttemptAt).to.be.a('string');
    // All others have waited since the first attempt: nobody else has asked the provider.
    expect(ai.calls.length).to.be.at.most(((await outages())[0]?.failed_probes ?? 0) + 2);
    isAway = false;

    for (const [of, id] of ids) {
      const ended = await job(id, ['succeeded', 'failed'], of);
      expect(ended).to.include({ status: 'succeeded', nextAttemptAt: null }).and.not.to.have.property('waiting');
      expect(ended.attempts).to.be.within(1, id === first.id ? 2 : 1);
      expect(await amountsOf(api, id)).to.deep.equal([5]);
    }
    await until(async () => (await outages()).length === 0);
    for (const each of tenants.slice(1)) expect(await creditsUsed(api, each.organizationId)).to.equal(60);
  });

  it('only jobs that need it wait: a bad key of one role stops only that role', async () => {
    ai.behave('summarize', () => providerError('chat', 'refused'));
    const failed = await createJob(api, tenant, summary);
    await until(async () => (await outages()).length === 1);
    const other = await createJob(api, tenant, embedding);
    expect(await job(other.id, ['succeeded'])).to.include({ attempts: 1 });
    expect(await outages()).to.containSubset([{ part: 'chat', cause: 'refused' }]);
    ai.behave('summarize');
    expect((await job(failed.id, ['succeeded'])).attempts).to.equal(2);
  });

  it('the probes of a job do not use up its attempts', async () => {
    ai.behave('summarize', (call) => (ai.callsOf(call.requestId) < 8 ? providerError('chat', 'unreachable') : goodAnswer(call)));
    const { id } = await createJob(api, tenant, { ...summary, maxAttempts: 2 });
    expect(await job(id, ['succeeded'])).to.include({ attempts: 2 });
    expect(ai.callsOf(id)).to.equal(8);
    await until(async () => (await outages()).length === 0);
  });

  it('the probes of a job read its document once, which a provider may be paid for', async () => {
    const { id: documentId } = await api.upload(tenant, { bytes: 'A text that is read.' });
    for (const [kind, operation, part] of [
      ['document.index', 'embed', 'embed'],
      ['document.summarize', 'summarize', 'chat'],
    ] as const) {
      await sql`delete from document_text where document_id = ${documentId}`.execute(db());
      let probes = 0;
      ai.behave(operation, (call) => (++probes < 4 ? providerError(part, 'quota') : goodAnswer(call)));
      const { id } = await createJob(api, tenant, { kind, documentId });
      await job(id, ['succeeded']);
      const read = ai.calls.filter(({ requestId, operation: asked }) => requestId === id && asked === 'extract');
      expect([kind, read.length]).to.deep.equal([kind, 1]);
      await until(async () => (await outages()).length === 0);
    }
  });

  it('a rate limit is waited for within the attempt', async () => {
    let asked = 0;
    ai.behave('summarize', (call) => (++asked % 3 === 0 ? providerError('chat', 'limited', { 'retry-after': '0.2' }) : goodAnswer(call)));
    const ids: string[] = [];
    for (let n = 0; n < 12; n++) ids.push((await createJob(api, tenant, summary)).id);
    for (const id of ids) expect(await job(id, ['succeeded', 'failed'])).to.include({ status: 'succeeded', attempts: 1 });
    await until(async () => (await outages()).length === 0);
  });

  nightly('a job that looks again hundreds of times goes on in a new run, before its history is too long', async () => {
    let isAway = true;
    ai.behave('summarize', (call) => (isAway ? providerError('chat', 'unreachable') : goodAnswer(call)));
    await db().insertInto('provider_outage').values({ part: 'chat', cause: 'failing', next_probe_at: new Date() }).execute();
    const { id } = await createJob(api, tenant, { ...summary, maxAttempts: 1 });
    const handle = api.temporal.client.workflow.getHandle(`job-${id}`);
    let first = '';
    await until(async () => {
      first = await handle.describe().then(
        ({ runId }) => runId,
        () => '',
      );
      return first !== '';
    });
    const looksAgain = async () => {
      await db().updateTable('provider_outage').set({ next_probe_at: new Date(), next_slot_at: new Date() }).execute();
      await inTransaction(db(), (trx) => releaseWaiting(trx, { part: 'chat', limit: 1 }));
      return (await handle.describe()).runId !== first;
    };
    await until(looksAgain, 900_000);
    isAway = false;
    expect(await job(id, ['succeeded', 'failed'])).to.include({ status: 'succeeded', attempts: 1 });
    expect(await amountsOf(api, id)).to.deep.equal([5]);
  }).timeout(1_000_000);

  it('a search waits for a short rate limit, too; told of a long one, it says so at once', async () => {
    const search = () => {
      const body = { query: 'anything', mode: 'semantic' };
      return api.request('POST', `/api/v1/workspaces/${tenant.workspaceId}/documents/search`, { token: tenant.owner.token, body });
    };
    let limited = 3;
    ai.behave('embed', (call) => (limited-- > 0 ? providerError('embed', 'limited', { 'retry-after': '0.2' }) : goodAnswer(call)));
    expect((await search()).status).to.equal(200);
    ai.behave('embed', () => providerError('embed', 'limited', { 'retry-after': '60' }));
    const refused = await search();
    expect([refused.status, refused.headers.get('retry-after')]).to.deep.equal([503, '60']);
    // A search says nothing of what jobs need.
    expect(await outages()).to.deep.equal([]);
  });

  it('a document goes as far as it can, and its next stage waits without counting', async () => {
    await isDown('chat');
    const { id: documentId } = await api.upload(tenant, { bytes: 'A text that is read.' });
    const { id } = await createJob(api, tenant, { kind: 'document.process', documentId, maxAttempts: 1 });
    await until(async () => (await job(id, ['queued', 'running'])).waiting === 'provider');
    const waiting = await job(id, ['queued']);
    expect(waiting).to.include({ attempts: 0, progress: 67 });
    expect(waiting.error).to.deep.include({ code: 'provider_away' }).and.to.have.property('message').that.is.not.equal('');
    await inTransaction(db(), (trx) => endOutage(trx, systemActor, 'chat'));
    expect(await job(id, ['succeeded'])).to.include({ attempts: 1 });
  });

  it('a document at which the provider always fails costs its own job the attempts, and holds up no other', async () => {
    const { id: bad } = await createJob(api, tenant, { ...summary, maxAttempts: 3 });
    ai.behave('summarize', (call) => (call.requestId === bad ? providerError('chat', 'failing') : goodAnswer(call)));
    const others: string[] = [];
    let ended: { status: string; attempts: number } | undefined;
    await until(async () => {
      others.push((await createJob(api, tenant, summary)).id);
      ended = await job(bad, ['queued', 'running', 'failed', 'succeeded']);
      return ended?.status === 'failed' || ended?.status === 'succeeded';
    }, 60_000);
    expect(ended).to.include({ status: 'failed', attempts: 3 });
    for (const id of others) expect(await job(id, ['succeeded'])).to.include({ attempts: 1 });
  });

  it('a probe counts that the provider has answered before it failed: each is paid for', async () => {
    const usage = 'role=embed&model=fake&calls=1&unreported=0&input=1&cached=0&output=0';
    const failAfter = (state: 'failing' | 'quota') =>
      ai.behave('embed', (call) => {
        if (call.body.texts.length === 32) return { body: null, ...goodAnswer(call), headers: { 'x-provider-usage': usage } };
        return answerLate(200, () => providerError('embed', state))(call);
      });
    failAfter('failing');
    const bytes = Array.from({ length: 40 }, (_, n) => `Paragraph ${n}. ${'It is long. '.repeat(95)}`).join('\n\n');
    const { id: documentId } = await api.upload(tenant, { bytes });
    const { id } = await createJob(api, tenant, { kind: 'document.index', documentId, maxAttempts: 2 });
    expect(await job(id, ['failed'])).to.include({ attempts: 2 });
    // What a limit stops would do so with any document.
    failAfter('quota');
    const limited = await createJob(api, tenant, { kind: 'document.index', documentId, maxAttempts: 2 });
    await until(async () => ai.callsOf(limited.id) >= 8, 30_000);
    ai.behave('embed', goodAnswer);
    await job(limited.id, ['succeeded']);
  });

  it('a look ahead of its time leaves a job to the wait of its workflow, which hears that the outage ends', async () => {
    await isDown('chat');
    const { id } = await createJob(api, tenant, summary);
    await until(async () => (await job(id, ['queued'])).waiting === 'provider');
    const times = { probeDelaysMs: [60_000], slotMs: 200, longestWaitMs: 60_000, leaseMs: 60_000 };
    expect(await claimJob(db(), id, 'run/activity/1', times)).to.deep.include({ claimed: false, waits: true });
  });

  it('what nobody waits for any more is forgotten, and the next job that waits is let look if the one before it is gone', async () => {
    for (const part of ['chat', 'vision'] as const) await isDown(part);
    const { id } = await createJob(api, tenant, summary);
    await until(async () => (await job(id, ['queued'])).waiting === 'provider');
    await db().updateTable('job').set({ next_attempt_at: sql`now() + interval '3 hours'` }).where('id', '=', id).execute();
    await db().updateTable('provider_outage').set({ next_probe_at: sql`now() - interval '11 minutes'`, probing_until: null }).execute();
    await sweepOutages(db());
    expect(await outages())
      .to.containSubset([{ part: 'chat' }])
      .and.have.lengthOf(1);
    expect(await job(id, ['succeeded'])).to.include({ attempts: 1 });
  });

  it('an operator lists what is down and how many jobs wait for it, and ends it by hand', async () => {
    const { DATABASE_URL, TEMPORAL_ADDRESS, DATA_DIR } = api.stack.env;
    const env = { DATABASE_URL, TEMPORAL_ADDRESS, DATA_DIR, TEMPORAL_NAMESPACE: api.temporal.namespace };
    const ops = async (...args: string[]) => await runOps(['outages', ...args], env);
    expect(await ops()).to.deep.equal({ code: 0, stdout: 'Nothing is known to be down.\n', stderr: '' });
    await isDown('chat');
    await isDown('embed');
    const { id } = await createJob(api, tenant, summary);
    await until(async () => (await job(id, ['queued'])).waiting === 'provider');
    const { outages: listed } = await opsResult(['outages'], env);
    expect(listed.map(({ part, cause, waiting }: any) => ({ part, cause, waiting }))).to.deep.equal([
      { part: 'chat', cause: 'failing', waiting: 1 },
      { part: 'embed', cause: 'failing', waiting: 0 },
    ]);
    expect((await ops()).stdout).to.match(/^chat +failing +\S.* 1$/m);

    expect(await ops('--end', 'chat')).to.deep.equal({ code: 0, stdout: 'Jobs that need chat go on.\n', stderr: '' });
    expect(await job(id, ['succeeded'])).to.include({ attempts: 1 });
    expect(await outages())
      .to.containSubset([{ part: 'embed' }])
      .and.have.lengthOf(1);
    expect((await ops('--end', 'chat')).stdout).to.equal('chat is not known to be down.\n');
    expect(await opsResult(['outages', '--end', 'embed'], env)).to.deep.equal({ part: 'embed', ended: true });
    expect(await opsResult(['outages', '--end', 'embed'], env)).to.deep.equal({ part: 'embed', ended: false });
    const unknown = await ops('--end', 'rerank');
    expect(unknown.code).to.equal(2);
    expect(unknown.stderr).to.include('--end takes one of ai-service, chat, embed, vision, not rerank.');
  });

  it('a job that waits can be canceled, and is refunded', async () => {
    await isDown('chat');
    const { id } = await createJob(api, tenant, summary);
    await until(async () => (await job(id, ['queued'])).waiting === 'provider');
    const { body } = await api.request('POST', `/api/v1/jobs/${id}/cancel`, { token: tenant.owner.token });
    expect(body).to.include({ status: 'canceled', attempts: 0 }).and.not.to.have.property('waiting');
    expect(await amountsOf(api, id)).to.deep.equal([5, -5]);
  });

  it('a wait is bounded: then the job fails and is refunded', async () => {
    await isDown('chat');
    const { id } = await createJob(api, tenant, summary);
    await until(async () => (await job(id, ['queued'])).waiting === 'provider');
    await db()
      .updateTable('job')
      .set({ waiting_since: sql`now() - interval '73 hours'`, next_attempt_at: new Date() })
      .where('id', '=', id)
      .execute();
    await api.temporal.client.workflow.getHandle(`job-${id}`).signal('attemptDue');
    const ended = await job(id, ['failed']);
    expect(ended).to.include({ attempts: 0 });
    expect(ended.error.code).to.equal('provider_unavailable');
    expect(await amountsOf(api, id)).to.deep.equal([5, -5]);
  });

  it('a job that waits ends when it looks again, and is refunded, if its document is deleted', async () => {
    await isDown('chat');
    await db().updateTable('provider_outage').set({ next_probe_at: sql`now() + interval '1 hour'` }).execute();
    const { id: documentId } = await api.upload(tenant, { bytes: 'A text that is read.' });
    const { id } = await createJob(api, tenant, { kind: 'document.summarize', documentId });
    await until(async () => (await job(id, ['queued'])).waiting === 'provider');
    expect((await api.request('DELETE', `/api/v1/documents/${documentId}`, { token: tenant.owner.token })).status).to.equal(200);
    await db().updateTable('job').set({ next_attempt_at: new Date() }).where('id', '=', id).execute();
    await api.temporal.client.workflow.getHandle(`job-${id}`).signal('attemptDue');
    expect((await job(id, ['failed'])).error.code).to.equal('document_missing');
    expect(await amountsOf(api, id)).to.deep.equal([5, -5]);
  });
});
