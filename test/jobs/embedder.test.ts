import { expect } from 'chai';
import { Embedder } from '../../activities/embedder.ts';
import { createAiClient } from '../../ai/client.ts';
import { type AiCall, aiError, answerLate, type FakeAi, goodAnswer, startFakeAi } from '../support/fake-ai.ts';
import { until } from '../support/processes.ts';

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

  it('answers a vector for each text, in their order', async () => {
    const { model, dimensions, vectors } = await embed('a', 5);
    expect({ model, dimensions }).to.deep.equal({ model: 'fake', dimensions: 2 });
    expect(vectors).to.deep.equal(textsOf(5).map((_, n) => [n, 1]));
  });

  it('makes no more calls at once than it may, and finishes the document that came first', async () => {
    await Promise.all([embed('a', 6), embed('b', 6), embed('c', 1)]);
    expect(ai.mostRunning).to.equal(2);
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
});
