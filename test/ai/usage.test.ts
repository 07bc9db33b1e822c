import { expect } from 'chai';
import { readUsage, usageHeader } from '../../contract/ai-service/usage.ts';
import { chat, type RemoteAnswer } from './support/remote-model.ts';
import { makeScannedPdf } from './support/scan.ts';
import { useRemoteModel } from './support/use-ai-service.ts';

describe('what a request had its provider do', () => {
  const { remote, service } = useRemoteModel((baseUrl) => ({
    OCR_PROVIDER: 'auto',
    OCR_SCANNED_PDF: 'true',
    REMOTE_AI_BASE_URL: baseUrl,
    REMOTE_AI_KEY: 'key-of-the-remote',
    REMOTE_AI_CHAT: '?model=talker%20Größe%20L',
    REMOTE_AI_EMBED: '?model=embedder&batch=2&seconds=1',
    REMOTE_AI_VISION_MODEL: 'seer',
    REMOTE_AI_RERANK: '?model=ranker',
  }));

  const post = async (path: string, body: object) => {
    const response = await service.ask(path, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    return { status: response.status, usage: readUsage(response.headers.get(usageHeader) ?? undefined) };
  };
  const withUsage = (answer: RemoteAnswer, usage: object): RemoteAnswer =>
    answer === 'hang' ? answer : { ...answer, body: { ...(answer.body as object), usage } };
  const vectors = (texts: string[]) => ({ status: 200, body: { data: texts.map((_, index) => ({ index, embedding: [1, 2] })) } });
  const embedder = { role: 'embed', model: 'embedder' } as const;

  it('is in the header: the tokens as the provider counts them, those from its cache among them', async () => {
    const said = { prompt_tokens: 100, completion_tokens: 7, total_tokens: 107, prompt_tokens_details: { cached_tokens: 64 } };
    remote.answer = () => withUsage(chat('A summary.'), said);
    expect((await post('/v1/summarize', { text: 'A text.' })).usage).to.deep.equal({
      ...{ role: 'chat', model: 'talker Größe L', calls: 1, unreported: 0 },
      ...{ input: 100, cached: 64, output: 7 },
    });
  });

  it('adds up the calls of one request', async () => {
    remote.answer = ({ body }) =>
      withUsage(vectors(body.input), { prompt_tokens: 10 * body.input.length, total_tokens: 10 * body.input.length });
    const { usage } = await post('/v1/embed', { texts: ['a', 'b', 'c', 'd', 'e'] });
    expect(usage).to.deep.equal({ ...embedder, calls: 3, unreported: 0, input: 50, cached: 0, output: 0 });
  });

  it('counts what was paid for before a call failed; a refused call costs nothing', async () => {
    remote.answer = ({ body }) =>
      body.input.includes('c') ? { status: 429, body: {} } : withUsage(vectors(body.input), { prompt_tokens: 20, total_tokens: 20 });
    expect(await post('/v1/embed', { texts: ['a', 'b', 'c'] })).to.deep.equal({
      status: 502,
      usage: { ...embedder, calls: 1, unreported: 0, input: 20, cached: 0, output: 0 },
    });
  });

  it('counts a call without a usable report as one whose tokens are unknown, never as free', async () => {
    const unknown = { ...embedder, calls: 1, unreported: 1, input: 0, cached: 0, output: 0 };
    const answers: RemoteAnswer[] = [
      vectors(['a']),
      { status: 200, body: 'no json' },
      'hang',
      withUsage(vectors(['a']), { prompt_tokens: -1, total_tokens: 4 }),
      withUsage(vectors(['a']), { prompt_tokens: 5, total_tokens: 4 }),
    ];
    for (const answer of answers) {
      remote.answer = () => answer;
      expect((await post('/v1/embed', { texts: ['a'] })).usage, JSON.stringify(answer)).to.deep.equal(unknown);
    }
  });

  it('counts an answer of another form that was paid for', async () => {
    remote.answer = () => withUsage({ status: 200, body: { data: [] } }, { prompt_tokens: 4, total_tokens: 4 });
    expect(await post('/v1/embed', { texts: ['a'] })).to.deep.equal({
      status: 502,
      usage: { ...embedder, calls: 1, unreported: 0, input: 4, cached: 0, output: 0 },
    });
  });

  it('takes the total of a ranking for its input', async () => {
    remote.answer = () => withUsage({ status: 200, body: { results: [{ index: 0, relevance_score: 1 }] } }, { total_tokens: 33 });
    const { usage } = await post('/v1/rerank', { query: 'a', documents: ['b'] });
    expect(usage).to.deep.equal({ role: 'rerank', model: 'ranker', calls: 1, unreported: 0, input: 33, cached: 0, output: 0 });
  });

  it('is none if a local model did the work, or the request was refused before', async () => {
    expect((await post('/v1/embed', { texts: ['a'], model: 'local-hash-256' })).usage).to.equal(null);
    expect(await post('/v1/embed', { texts: [] })).to.deep.equal({ status: 422, usage: null });
  });

  it('is in the last line of a response in lines', async () => {
    remote.answer = () => withUsage(chat('Read.'), { prompt_tokens: 900, completion_tokens: 11, total_tokens: 911 });
    const body = new Uint8Array(await makeScannedPdf([{ scan: ['One page.'] }, { scan: ['Another page.'] }]));
    const headers = { 'content-type': 'application/pdf', accept: 'application/x-ndjson, application/json' };
    const response = await service.ask('/v1/extract', { method: 'POST', body, headers });
    const { usage } = JSON.parse((await response.text()).trim().split('\n').at(-1) ?? '');
    expect(response.headers.get(usageHeader)).to.equal(null);
    expect(readUsage(usage)).to.deep.equal({
      ...{ role: 'vision', model: 'seer', calls: 2, unreported: 0 },
      ...{ input: 1_800, cached: 0, output: 22 },
    });
  });
});
