import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { losingAccess } from '../support/api-keys.ts';
import { aiError, quoting as quotingOf } from '../support/fake-ai.ts';
import { until } from '../support/processes.ts';
import { expectOk } from '../support/requests.ts';
import { callOver } from '../support/transports.ts';
import { useApi } from '../support/use-api.ts';
import { billingOn } from './auth/support/service.ts';

const text = 'The mirrors are washed every month. The dome opens at dusk.';
const month = 'The mirrors are washed every month.';

describe('The credits of an answer', () => {
  const env = { QUESTION_LIMIT_PER_MINUTE: '1000', ...billingOn, PLANS: '{"free":{"aiCredits":100}}' };
  const { api, ai, tenant } = useApi({ ai: true, env, tenant: 'of each test', check: 'after each test' });
  let documentId: string;
  /** What the organization has used before the first question: the job that indexed the document. */
  let before: number;

  beforeEach(async () => {
    ai.behave('answer');
    ai.behave('embed');
    documentId = (await api.upload(tenant, { name: 'handbook.txt', bytes: text })).id;
    const { token } = tenant.owner;
    const { body } = await expectOk(api.request('POST', '/api/v1/jobs', { token, body: { kind: 'document.index', documentId } }));
    await api.jobIn(token, body.id, ['succeeded']);
    ai.calls.length = 0;
    before = await usedCredits();
  });

  const question = () => ({ workspaceId: tenant.workspaceId, question: 'How often are the mirrors washed?', mode: 'lexical' });
  const ask = (input: object = {}, headers: Record<string, string> = {}) =>
    callOver(api, 'REST', 'documents.ask', { ...question(), ...input }, { token: tenant.owner.token, headers });
  const usedCredits = async (): Promise<number> =>
    (await api.request('GET', `/api/v1/organizations/${tenant.organizationId}/usage`, { token: tenant.owner.token })).body.usage.aiCredits;
  const amounts = async () => {
    const { db } = api.database;
    const entries = db
      .selectFrom('credit_entry')
      .selectAll()
      .where('organization_id', '=', tenant.organizationId)
      .where('job_id', 'is', null);
    return (await entries.orderBy('id').execute()).map(({ key, amount, reason }) => [key.replace(/:.*:/, ':'), amount, reason]);
  };
  const open = () => api.database.db.selectFrom('open_answer').select('id').where('organization_id', '=', tenant.organizationId).execute();
  const questions = () => ai.calls.filter(({ operation }) => operation === 'answer');
  const quoting = (texts: string[]) => quotingOf(texts, 'fake-chat');

  it('are charged once, and the answer says so', async () => {
    ai.behave('answer', quoting([month]));
    const { status, body } = await ask();
    expect(status, JSON.stringify(body)).to.equal(200);
    expect(body).to.deep.include({ withheld: 0, nothingFound: false, extractive: false, model: 'fake-chat', credits: 3 });
    expect(body.sentences).to.deep.equal([
      {
        text: month,
        mark: null,
        citations: [
          {
            documentId,
            documentName: 'handbook.txt',
            page: null,
            headings: [],
            start: 0,
            end: 35,
            quote: month,
            exact: true,
            version: 1,
            recognized: false,
            context: { before: null, after: 'The dome opens at dusk.', lead: null, parents: [], cells: [] },
          },
        ],
      },
    ]);
    expect(await amounts()).to.deep.equal([['answer:charge', 3, 'documents.ask']]);
    expect([(await usedCredits()) - before, await open()]).to.deep.equal([3, []]);
  });

  it('are given back if the answer has no sentence: the model picks what is not there, or no passage was found', async () => {
    ai.behave('answer', quoting(['The mirrors are washed every year.', 'The dome opens at dawn.']));
    expect((await ask()).body).to.deep.include({ sentences: [], withheld: 0, nothingFound: true, credits: 0 });
    for (const nothing of [{ question: 'zebra' }, { question: '???' }, { filter: { tags: ['none'] } }])
      expect((await ask(nothing)).body).to.deep.include({ sentences: [], withheld: 0, nothingFound: true, model: null, credits: 0 });
    expect(questions()).to.have.length(1);
    expect((await amounts()).slice(-2)).to.deep.equal([
      ['answer:charge', 3, 'documents.ask'],
      ['answer:refund', -3, 'nothing found'],
    ]);
    expect([(await usedCredits()) - before, await open()]).to.deep.equal([0, []]);
  });

  it('are given back when the AI service fails', async () => {
    ai.behave('answer', () => aiError(502, 'remote_failed'));
    expect((await ask()).body).to.include({ code: 'SERVICE_UNAVAILABLE', defined: true });
    expect([(await usedCredits()) - before, await open()]).to.deep.equal([0, []]);
    ai.behave('embed', () => aiError(500, 'internal'));
    expect((await ask({ mode: 'semantic' })).body).to.include({ code: 'SERVICE_UNAVAILABLE' });
    expect((await amounts()).slice(-2)).to.deep.equal([
      ['answer:charge', 3, 'documents.ask'],
      ['answer:refund', -3, 'failed'],
    ]);
  });

  it('are given back when the client leaves', async () => {
    ai.behave('answer', () => undefined);
    const abort = new AbortController();
    const { workspaceId, ...body } = question();
    const path = `/api/v1/workspaces/${workspaceId}/documents/ask`;
    const leaving = api.request('POST', path, { token: tenant.owner.token, body, signal: abort.signal }).catch(() => undefined);
    await until(() => questions().length === 1);
    expect((await usedCredits()) - before).to.equal(3);
    abort.abort();
    await leaving;
    // Writing the answer is given up after a minute.
    await until(async () => (await usedCredits()) === before, 30_000);
  });

  it('are checked before anything is searched or asked', async () => {
    const { db } = api.database;
    await db.updateTable('credit_month').set({ used: 98 }).where('organization_id', '=', tenant.organizationId).execute();
    const { body } = await ask({ mode: 'semantic', conversation: ['Is there a dome?'] });
    expect(body).to.deep.include({ code: 'LIMIT_REACHED', data: { kind: 'aiCredits', limit: 100, plan: 'free', scope: 'organization' } });
    expect(ai.calls).to.deep.equal([]);
    await db.updateTable('credit_month').set({ used: before }).where('organization_id', '=', tenant.organizationId).execute();
  });

  it('are charged once for a key, however often and however early it is repeated', async () => {
    const headers = { 'idempotency-key': randomUUID() };
    const waiting: (() => void)[] = [];
    ai.behave('answer', async (call) => {
      await new Promise<void>((resolve) => waiting.push(resolve));
      return quoting([month])(call);
    });
    const twins = [1, 2].map(() => ask({}, headers));
    await until(() => waiting.length === 2);
    for (const go of waiting) go();
    const [first, ...rest] = (await Promise.all(twins)).map(({ body }) => body);
    rest.push((await ask({}, headers)).body);
    for (const one of rest) expect(one).to.deep.equal(first);
    expect(first.sentences).to.have.length(1);
    expect(questions()).to.have.length(2);
    expect([(await usedCredits()) - before, await open()]).to.deep.equal([3, []]);
    expect((await ask({ limit: 9 }, headers)).body).to.include({ code: 'BAD_REQUEST' });
  });

  it('buy no quote of a document that was deleted since', async () => {
    const headers = { 'idempotency-key': randomUUID() };
    ai.behave('answer', quoting([month]));
    expect((await ask({}, headers)).body.sentences).to.have.length(1);
    await expectOk(api.request('DELETE', `/api/v1/documents/${documentId}`, { token: tenant.owner.token }));
    expect((await ask({}, headers)).body).to.deep.include({ sentences: [], withheld: 1, nothingFound: false });
    expect((await ask()).body).to.deep.include({ sentences: [], nothingFound: true });
  });

  it('buy nothing once the deletion of the organization was requested, and no quote is stored', async () => {
    const key = randomUUID();
    const { db } = api.database;
    ai.behave('answer', async (call) => {
      await db.insertInto('organization_deletion').values({ organization_id: tenant.organizationId, requested_by: null }).execute();
      return quoting([month])(call);
    });
    expect((await ask({}, { 'idempotency-key': key })).body.code).to.equal('NOT_FOUND');
    expect(await db.selectFrom('idempotency_key').select('response').where('key', '=', key).execute()).to.deep.equal([]);
    expect(await open()).to.deep.equal([]);
  });

  it('are given back, and nothing is quoted, if the key is revoked or the member removed while the answer is picked', async () => {
    const { db } = api.database;
    for (const { token, code, end } of await losingAccess(api, tenant)) {
      ai.behave('answer', async (call) => {
        await end();
        return quoting([month])(call);
      });
      const headers = { 'idempotency-key': randomUUID() };
      const { body } = await callOver(api, 'REST', 'documents.ask', question(), { token, headers });
      expect(body.code, JSON.stringify(body)).to.equal(code);
      const stored = db.selectFrom('idempotency_key').select('key').where('key', '=', headers['idempotency-key']);
      expect(await stored.execute()).to.deep.equal([]);
    }
    expect(await usedCredits()).to.equal(before);
    expect(await open()).to.deep.equal([]);
  });

  it('are shown as a kind of their own in the history of usage', async () => {
    expect((await ask()).status).to.equal(200);
    const { organizationId, owner } = tenant;
    const { body } = await callOver(api, 'REST', 'organizations.usageHistory', { organizationId }, { token: owner.token });
    expect(body.items.map(({ group, charged }: { group: string; charged: number }) => [group, charged])).to.deep.include([
      'documents.ask',
      3,
    ]);
  });
});
