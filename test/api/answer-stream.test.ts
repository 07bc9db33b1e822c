import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { type AnswerEvent, createClient } from '../../clients/typescript/index.ts';
import { openStream } from '../support/event-stream.ts';
import { aiError, goodAnswer, quoting } from '../support/fake-ai.ts';
import { until } from '../support/processes.ts';
import { expectOk } from '../support/requests.ts';
import { staysTrue } from '../support/stays-true.ts';
import { useApi } from '../support/use-api.ts';
import { billingOn } from './auth/support/service.ts';

const sentences = ['The mirrors are washed every month.', 'The dome opens at dusk.', 'The lamp is lit by hand.'];

describe('The stream of an answer', () => {
  const env = { QUESTION_LIMIT_PER_MINUTE: '1000', ...billingOn, PLANS: '{"free":{"aiCredits":1000}}' };
  const { api, ai, tenant } = useApi({ ai: true, env, tenant: 'of each test', check: 'after each test' });
  let documentId: string;
  let before: number;

  beforeEach(async () => {
    ai.behave('answer', quoting(sentences));
    documentId = (await api.upload(tenant, { name: 'handbook.txt', bytes: sentences.join(' ') })).id;
    const { token } = tenant.owner;
    const { body } = await expectOk(api.request('POST', '/api/v1/jobs', { token, body: { kind: 'document.index', documentId } }));
    await api.jobIn(token, body.id, ['succeeded']);
    ai.calls.length = 0;
    before = await usedCredits();
  });

  const question = { question: 'How is the observatory kept? mirrors dome lamp', mode: 'lexical' as const };
  const path = () => `/api/v1/workspaces/${tenant.workspaceId}/documents/ask/stream`;
  const open = (options: { lastEventId?: string; headers?: Record<string, string>; body?: object; token?: string } = {}) =>
    openStream(api, {
      operation: 'documents.askStream',
      method: 'POST',
      path: path(),
      token: tenant.owner.token,
      body: question,
      ...options,
    });
  const refusal = (headers: Record<string, string>, body: object = question) =>
    api.request('POST', path(), { token: tenant.owner.token, headers, body });
  const usedCredits = async (): Promise<number> =>
    (await api.request('GET', `/api/v1/organizations/${tenant.organizationId}/usage`, { token: tenant.owner.token })).body.usage.aiCredits;
  const questions = () => ai.calls.filter(({ operation }) => operation === 'answer');

  it('sends each sentence, and then all else', async () => {
    ai.behave('answer', quoting([...sentences, 'The dome opens at dawn.']));
    const stream = await open();
    await stream.ended;
    expect(stream.events.map(({ data }) => data.text ?? data.type)).to.deep.equal([...sentences, 'end']);
    expect(stream.events[0]?.data.citations[0]).to.include({ documentId, quote: sentences[0], start: 0 });
    expect(stream.events.at(-1)?.data).to.deep.include({ withheld: 0, nothingFound: false, credits: 3 });
    expect((await usedCredits()) - before).to.equal(3);
  });

  it('takes as long a conversation as documents.ask', async () => {
    const stream = await open({ body: { ...question, conversation: Array(20).fill('鏡'.repeat(1_000)) } });
    await stream.ended;
    expect(stream.events.at(-1)?.data.type).to.equal('end');
  });

  it('goes on after the last event, at no cost, from its beginning and its end too', async () => {
    const stream = await open();
    await stream.ended;
    const ids = [stream.begin ?? '', ...stream.events.map(({ id }) => id ?? '')];
    expect(new Set(ids).size).to.equal(5);
    for (const [sent, lastEventId] of ids.entries()) {
      const rest = await open({ lastEventId });
      await rest.ended;
      expect(rest.events).to.deep.equal(stream.events.slice(Math.min(sent, 3)));
    }
    expect(questions()).to.have.length(1);
    expect((await usedCredits()) - before).to.equal(3);
  });

  it('leaves out what was deleted since, and numbers the others as before', async () => {
    const stream = await open();
    await stream.ended;
    await expectOk(api.request('DELETE', `/api/v1/documents/${documentId}`, { token: tenant.owner.token }));
    const rest = await open({ lastEventId: stream.events[0]?.id ?? '' });
    await rest.ended;
    expect(rest.events.map(({ id, data }) => [id, data.type, data.withheld])).to.deep.equal([[stream.events[3]?.id, 'end', 3]]);
  });

  it('refuses an event of another question, user or answer, before it opens', async () => {
    const stream = await open();
    await stream.ended;
    const [{ id: lastEventId = '' } = {}] = stream.events;
    const made = ['made-up', `${randomUUID()}.1`, '%.1', lastEventId.replace(/\d+$/, '9999')];
    for (const id of made) expect((await refusal({ 'last-event-id': id })).body).to.deep.include({ code: 'BAD_REQUEST', defined: true });
    expect((await refusal({ 'last-event-id': lastEventId }, { ...question, limit: 1 })).body.code).to.equal('BAD_REQUEST');
    expect((await refusal({ 'last-event-id': lastEventId, 'idempotency-key': 'another' })).body.code).to.equal('BAD_REQUEST');
    const colleague = await api.signUp();
    await api.addMember(tenant.organizationId, colleague, 'member');
    const theirs = await api.request('POST', path(), { token: colleague.token, headers: { 'last-event-id': lastEventId }, body: question });
    expect(theirs.body.code).to.equal('BAD_REQUEST');
    const stranger = await api.signUp();
    expect((await api.request('POST', path(), { token: stranger.token, body: question })).status).to.equal(403);
    expect(questions()).to.have.length(1);
  });

  it('ends with an error, and gives the credits back, when the AI service fails or too few credits are left', async () => {
    ai.behave('answer', () => aiError(502, 'remote_failed'));
    const failed = await open({ headers: { 'idempotency-key': 'once' } });
    await failed.ended;
    expect(failed.events.map(({ event, data }) => [event, data.code])).to.deep.equal([['error', 'SERVICE_UNAVAILABLE']]);
    expect(await usedCredits()).to.equal(before);
    ai.behave('answer', quoting(sentences));
    const again = await open({ headers: { 'idempotency-key': 'once' } });
    await again.ended;
    expect(again.events).to.have.length(4);
    const month = api.database.db.updateTable('credit_month').where('organization_id', '=', tenant.organizationId);
    await month.set({ used: 999 }).execute();
    const refused = await open();
    await refused.ended;
    expect(refused.events.map(({ data }) => data.code)).to.deep.equal(['LIMIT_REACHED']);
    await month.set({ used: before + 3 }).execute();
  });

  it('gives the credits back when the client leaves before the answer is there', async () => {
    ai.behave('answer', () => undefined);
    const stream = await open();
    await until(() => questions().length === 1);
    expect((await usedCredits()) - before).to.equal(3);
    stream.close();
    await until(async () => (await usedCredits()) === before, 30_000);
  });

  it('is followed by the client to its end, each sentence once, however often the connection breaks', async () => {
    // Nobody hears of the first answer; the others break after a sentence.
    const breaks = [undefined, sentences[0], sentences[1]];
    const ids: (string | null)[] = [];
    const broken: typeof fetch = async (input, init) => {
      const request = new Request(input as Request, init);
      ids.push(request.headers.get('last-event-id'));
      const response = await fetch(request);
      if (ids.length > breaks.length) return response;
      const whole = await response.text();
      const after = breaks[ids.length - 1];
      if (after === undefined) throw new TypeError('the connection broke');
      const heard = whole.slice(0, whole.indexOf('\n\n', whole.indexOf(after)) + 2);
      return new Response(breaking(heard), { status: response.status, headers: response.headers });
    };
    const client = createClient({ url: api.url, token: tenant.owner.token, retries: { baseDelayMs: 10 }, fetch: broken });
    const events: AnswerEvent[] = [];
    for await (const event of client.documents.askStream({ workspaceId: tenant.workspaceId, ...question })) events.push(event);
    expect(events.map((event) => (event.type === 'end' ? event.withheld : event.text))).to.deep.equal([...sentences, 0]);
    expect(ids.map((id) => id?.split('.').at(-1))).to.deep.equal([undefined, undefined, '1', '2']);
    expect((await usedCredits()) - before).to.equal(3);
    expect(questions()).to.have.length(1);
  });
});

describe('The streams of answers', () => {
  const { api, ai, tenant } = useApi({ ai: true, env: { QUESTION_LIMIT_PER_MINUTE: '1000', DATABASE_POOL_SIZE: '4' } });

  it('hold a permit of their organization until they end, as searches do', async () => {
    const { id: documentId } = await api.upload(tenant, { bytes: sentences.join(' ') });
    const { token } = tenant.owner;
    const { body } = await expectOk(api.request('POST', '/api/v1/jobs', { token, body: { kind: 'document.index', documentId } }));
    await api.jobIn(token, body.id, ['succeeded']);
    const { promise: answered, resolve: answer } = Promise.withResolvers<void>();
    ai.behave('answer', async (call) => {
      await answered;
      return goodAnswer(call);
    });
    ai.calls.length = 0;
    const asked = () => ai.calls.filter(({ operation }) => operation === 'answer').length;
    const path = `/api/v1/workspaces/${tenant.workspaceId}/documents/ask/stream`;
    const request = { operation: 'documents.askStream', method: 'POST' as const, path, token };
    const streams = Array.from({ length: 6 }, () => openStream(api, { ...request, body: { question: 'mirrors', mode: 'lexical' } }));
    await until(() => asked() === 4);
    await staysTrue(() => asked() === 4, 500);
    answer();
    for (const { ended } of await Promise.all(streams)) await ended;
    expect(asked()).to.equal(6);
  });
});

/** A body that breaks after a text. */
function breaking(text: string): ReadableStream<Uint8Array> {
  let sent = false;
  return new ReadableStream({
    pull(controller) {
      if (sent) controller.error(new TypeError('the connection broke'));
      else controller.enqueue(new TextEncoder().encode(text));
      sent = true;
    },
  });
}
