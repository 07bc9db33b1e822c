import { expect } from 'chai';
import { Embedder } from '../../activities/embedder.ts';
import { AiServiceError, createAiClient } from '../../adapters/ai-service/client.ts';
import { type AiCall, aiError, answerLate, type FakeAi, goodAnswer, startFakeAi } from '../support/fake-ai.ts';
import { createJob } from '../support/jobs.ts';
import { until } from '../support/processes.ts';
import { useApi } from '../support/use-api.ts';

const textsOf = (batches: number) => Array.from({ length: batches * 32 - 7 }, (_, n) => `chunk ${n}`);

describe('The embedding of documents', () => {
  let ai: FakeAi;
  let embedder: Embedder;

  beforeEach(async () => {
    ai = await startFakeAi();
    embedder = new Embedder(createAiClient({ baseUrl: ai.url, token: 'any' }), 2);
    const numbered = (call: AiCall) => {
      const vectors = call.body.texts.map((text: string) => [Number(text.split(' ')[1]), 1]);
      return { body: { model: 'fake', dimensions: 2, vectors } };
    };
    ai.behave('embed', answerLate(10, numbered));
  });
  afterEach(() => ai.stop());

  const embed = (requestId: string, batches: number, signal = new AbortController().signal) =>
    embedder.embedAll(textsOf(batches), { requestId, signal });

  it('makes no more calls at once than it may, and finishes the document that came first', async () => {
    await Promise.all([embed('a', 6), embed('b', 6), embed('c', 1)]);
    expect(ai.maxRunning).to.equal(2);
    const order = ai.calls.map(({ requestId }) => requestId);
    expect(order).to.have.lengthOf(13);
    // Of the two calls that are under way at the border of two documents, either may arrive first.
    expect(order.lastIndexOf('a')).to.be.at.most(order.indexOf('b') + 1);
    expect(order.lastIndexOf('b')).to.be.at.most(order.indexOf('c') + 1);
  });

  it('makes no further call for a document after one has failed, and goes on with the others', async () => {
    ai.behave(
      'embed',
      answerLate(10, (call) => (call.requestId === 'a' ? aiError(503, 'busy') : goodAnswer(call))),
    );
    const [a, b] = await Promise.allSettled([embed('a', 10), embed('b', 3)]);
    expect(a).to.include({ status: 'rejected' });
    expect(b).to.include({ status: 'fulfilled' });
    expect(ai.callsOf('a')).to.be.at.most(3);
  });

  it('ends with the reason of its signal, and leaves its calls behind', async () => {
    ai.behave('embed', () => undefined);
    const stop = new AbortController();
    const waiting = embed('a', 10, stop.signal).catch((error) => error);
    await until(() => ai.running === 2);
    const reason = new Error('the attempt is over');
    stop.abort(reason);
    expect(await waiting).to.equal(reason);
    ai.behave('embed');
    await embed('b', 3);
    expect([ai.callsOf('a'), ai.callsOf('b')]).to.deep.equal([2, 3]);
  });

  it('waits as long as a model says that limits its rate, and embeds no text twice', async () => {
    let limited = 2;
    ai.behave('embed', (call) => (limited-- > 0 ? aiError(502, 'remote_failed', { 'retry-after': '0' }) : goodAnswer(call)));
    const options = { signal: new AbortController().signal, requestId: 'a', until: Date.now() + 60_000 };
    expect((await embedder.embedAll(textsOf(3), options)).vectors).to.have.length(89);
    expect(ai.callsOf('a')).to.equal(5);
  });

  it('leaves the wait to the job where there is no time for it, or the model said nothing', async () => {
    const failure = async (headers: Record<string, string>, until?: number) => {
      ai.calls.length = 0;
      ai.behave('embed', () => aiError(502, 'remote_failed', headers));
      const options = { signal: new AbortController().signal, requestId: 'a', ...(until && { until }) };
      const error = await embedder.embedAll(['a'], options).catch((error) => error);
      return [error.code, error.retryAfterMs, ai.calls.length];
    };
    expect(await failure({ 'retry-after': '7' }, Date.now() + 6_000)).to.deep.equal(['remote_failed', 7_000, 1]);
    expect(await failure({ 'retry-after': '7' })).to.deep.equal(['remote_failed', 7_000, 1]);
    expect(await failure({}, Date.now() + 60_000)).to.deep.equal(['remote_failed', undefined, 1]);
  });

  it('asks for the model of an index, in calls of the size that the service wants', async () => {
    ai.embeddings = [
      { model: 'own', dimensions: 2, chunk_characters: 900, texts_per_call: 4 },
      { model: 'other', dimensions: 2, chunk_characters: 1_200, texts_per_call: 32 },
    ];
    expect(await embedder.profileOf('other')).to.include({ chunkCharacters: 1_200, textsPerCall: 32 });
    const { textsPerCall } = await embedder.profileOf('unheard-of');
    const signal = new AbortController().signal;
    const told: number[] = [];
    const index = { model: 'other', dimensions: 2 };
    await embedder.embedAll(textsOf(1).slice(0, 10), { signal, index, textsPerCall, onProgress: (done) => told.push(done) });
    expect(ai.calls.map(({ body }) => [body.model, body.dimensions, body.texts.length])).to.deep.equal([
      ['other', 2, 4],
      ['other', 2, 4],
      ['other', 2, 2],
    ]);
    expect(told.at(-1)).to.equal(10);
  });

  it('says how a model wants its texts as it said before while the service does not say, and guesses nothing', async () => {
    const client = createAiClient({ baseUrl: ai.url, token: 'any' });
    let says = false;
    const health: typeof client.health = async (call) => (says ? client.health(call) : aiAway());
    const patient = new Embedder({ ...client, health }, 1, { profilesKeptMs: 0 });
    ai.embeddings = [{ model: 'own', dimensions: 2, chunk_characters: 900, texts_per_call: 4 }];
    expect(await patient.profileOf('own').catch((error) => error)).to.include({ code: 'timeout', retryable: true });
    expect(await patient.textsPerCall()).to.equal(32);
    says = true;
    const said = await patient.profileOf('own');
    expect(said).to.include({ chunkCharacters: 900, textsPerCall: 4 });
    says = false;
    expect(await patient.profileOf('own')).to.deep.equal(said);
  });

  it('says why it cannot tell how a model wants its texts, and knows nothing of the failure before', async () => {
    const client = createAiClient({ baseUrl: ai.url, token: 'any' });
    const refusals = ['one', 'other'].map((code) => new AiServiceError({ kind: 'rejected', code, message: code, retryable: false }));
    const left = [...refusals];
    const asked = new Embedder({ ...client, health: () => Promise.reject(left.shift()) }, 1);
    for (const refusal of refusals) {
      const error = await asked.profileOf('own').catch((failure) => failure);
      expect(error).to.include({ code: 'ai_unavailable', retryable: true });
      expect(error.cause).to.equal(refusal);
    }
  });

  function aiAway(): never {
    throw new AiServiceError({ kind: 'unreachable', code: 'timeout', message: 'late', retryable: true });
  }
});

describe('A job that embeds texts', () => {
  const { api, ai, tenant } = useApi({ ai: true, check: 'at the end' });

  it('asks in calls of the size that the service wants, and keeps the numbers as they are, in their order', async () => {
    const third = (text: string) => [Number(text) / 3, 0.1];
    ai.embeddings = [{ model: 'slow', dimensions: 2, chunk_characters: 1_200, texts_per_call: 3 }];
    ai.behave('embed', ({ body }) => ({ body: { model: 'slow', dimensions: 2, vectors: body.texts.map(third) } }));
    const texts = Array.from({ length: 8 }, (_, n) => String(n));
    const { id } = await createJob(api, tenant, { kind: 'text.embed', texts });
    const { result } = await api.jobIn(tenant.owner.token, id, ['succeeded']);
    expect(result).to.deep.equal({ model: 'slow', dimensions: 2, vectors: texts.map(third) });
    const asked = ai.calls.filter(({ requestId }) => requestId === id).map(({ body }) => body.texts.length);
    expect(asked.sort()).to.deep.equal([2, 3, 3]);
  });
});
