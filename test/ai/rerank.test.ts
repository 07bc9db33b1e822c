import { expect } from 'chai';
import { refusalOf, startAiService } from './support/ai-service.ts';
import { withKey } from './support/remote-model.ts';
import { useRemoteModel } from './support/use-ai-service.ts';

describe('ranking texts anew', () => {
  const { remote, service } = useRemoteModel((baseUrl) => ({
    REMOTE_AI_KEY: 'key-of-all',
    REMOTE_AI_RERANK: `${withKey(baseUrl, 'key-of-ranker')}?model=ranker`,
  }));
  const documents = ['a', 'b', 'c'];
  const ranking = (...scores: [number, number][]) => ({
    status: 200,
    body: { results: scores.map(([index, relevance_score]) => ({ index, relevance_score, document: { text: 'x' } })) },
  });

  it('asks the model in the form of Jina, Cohere and vLLM, and returns the best first', async () => {
    remote.answer = () => ranking([0, 0.1], [2, 0.3], [1, -2]);
    expect(await service.client.rerank({ query: 'which?', documents })).to.deep.equal([2, 0, 1]);
    const [{ path, headers, body } = { path: '', headers: {}, body: {} }] = remote.requests;
    expect([path, headers.authorization]).to.deep.equal(['/v1/rerank', 'Bearer key-of-ranker']);
    expect(body).to.deep.equal({ model: 'ranker', query: 'which?', documents, top_n: 3 });
  });

  it('refuses with 502 a ranking that does not have each text once', async () => {
    for (const answer of [
      ranking([0, 1], [1, 1]),
      ranking([0, 1], [1, 1], [1, 1]),
      ranking([0, 1], [1, 1], [3, 1]),
      ranking([0, 1], [1, 1], [2, 1], [2, 1]),
      ranking([0, 1], [1, 1], [-1, 1]),
      ranking([0, 1], [1, 1], [2, 'best' as never]),
      { status: 200, body: {} },
      { status: 500, body: {} },
    ]) {
      remote.answer = () => answer;
      const error = await service.client.rerank({ query: 'which?', documents }).catch((caught: unknown) => caught);
      expect(error, JSON.stringify(answer)).to.include({ status: 502, code: 'remote_failed', retryable: true });
    }
  });

  it('refuses what is over its limits', async () => {
    const post = (body: unknown) => service.ask('/v1/rerank', { method: 'POST', body: JSON.stringify(body) });
    for (const change of [
      { query: ' ' },
      { query: 'a'.repeat(2_001) },
      { documents: [] },
      { documents: Array(51).fill('a') },
      { documents: ['a'.repeat(8_001)] },
    ])
      expect(await refusalOf(await post({ query: 'which?', documents, ...change }))).to.deep.equal([422, 'invalid_request']);
    expect(remote.requests).to.be.empty;
  });

  it('says that there is no model for it', async () => {
    await using local = await startAiService();
    const error = await local.client.rerank({ query: 'which?', documents }).catch((caught: unknown) => caught);
    expect(error).to.include({ status: 422, code: 'no_reranker', retryable: false });
  });
});
