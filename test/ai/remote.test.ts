import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import sharp from 'sharp';
import { type AiServiceError, createAiClient } from '../../adapters/ai-service/client.ts';
import { until } from '../support/processes.ts';
import { refusalOf, token } from './support/ai-service.ts';
import { chat } from './support/remote-model.ts';
import { useRemoteModel } from './support/use-ai-service.ts';

const notice = readFileSync('docs/examples/samples/trail-notice.png');

describe('the AI service with a remote model', () => {
  const { remote, service } = useRemoteModel((baseUrl) => ({
    OCR_PROVIDER: 'auto',
    OCR_TIMEOUT_SECONDS: '3',
    REMOTE_AI_BASE_URL: baseUrl,
    REMOTE_AI_KEY: 'key-of-the-remote',
    REMOTE_AI_CHAT_MODEL: 'talker',
    REMOTE_AI_EMBED_MODEL: 'embedder',
    REMOTE_AI_VISION_MODEL: 'seer',
    REMOTE_AI_RERANK: 'http://127.0.0.1:9/v1?model=nobody',
  }));

  const vectors = (count: number, dimensions = 1536) =>
    Array.from({ length: count }, (_, index) => ({ object: 'embedding', index, embedding: Array(dimensions).fill(index / 10) }));
  const failureOf = (call: Promise<unknown>) => call.then(() => undefined).catch((error: unknown) => error);

  it('says so at /health', async () => {
    const { embeddings, ...health } = await service.client.health();
    expect(health).to.deep.equal({ ok: true, provider: 'remote', chat: 'remote', ocr: 'remote', auth: 'token', problems: [] });
    expect(embeddings.map(({ model, dimensions }) => [model, dimensions])).to.deep.equal([
      ['embedder', null],
      ['local-hash-256', 256],
    ]);
  });

  it('summarizes with the chat model, within the number of sentences', async () => {
    remote.answer = () => chat(' Dr. Ada wrote it.  It was\nlong. Nobody read it. ');
    const summary = await service.client.summarize({ text: 'A long text.', maxSentences: 2 });
    expect(summary).to.deep.equal({ summary: 'Dr. Ada wrote it. It was long.', sentences: 2, model: 'talker', characters: 12 });
    const [request] = remote.requests;
    expect(request?.path).to.equal('/v1/chat/completions');
    expect(request?.headers.authorization).to.equal('Bearer key-of-the-remote');
    expect(request?.body.model).to.equal('talker');
    expect(request?.body.messages.at(-1)).to.deep.equal({ role: 'user', content: 'A long text.' });
  });

  it('embeds with the embedding model, in the order of the texts', async () => {
    remote.answer = ({ body }) => ({ status: 200, body: { data: vectors(body.input.length).reverse() } });
    const { model, dimensions, vectors: answered } = await service.client.embed({ texts: ['a', '', 'c'] });
    expect([model, dimensions, answered.map((vector) => vector[0])]).to.deep.equal(['embedder', 1536, [0, 0.1, 0.2]]);
    expect(remote.requests[0]?.body).to.deep.include({ model: 'embedder', input: ['a', ' ', 'c'] });
  });

  it('refuses vectors that are not one for each text, whatever their number', async () => {
    for (const indexes of [[0, 0], [1, 2], [0], [0, 1, 2]]) {
      remote.answer = () => ({ status: 200, body: { data: indexes.map((index) => ({ index, embedding: [1, 2] })) } });
      const error = await failureOf(service.client.embed({ texts: ['a', 'b'] }));
      expect(error, String(indexes)).to.include({ status: 502, code: 'remote_failed', retryable: true });
    }
  });

  it('reads images with the vision model', async () => {
    remote.answer = () => chat('NOTICE TO HIKERS\nThe bridge is closed');
    const read = await service.client.extract({ body: notice, contentType: 'image/png' });
    expect(read).to.include({ text: 'NOTICE TO HIKERS\nThe bridge is closed', pages: 1, contentType: 'image/png' });
    const { model, messages } = remote.requests[0]?.body ?? {};
    expect(model).to.equal('seer');
    expect(messages[0].content[1].image_url.url).to.equal(`data:image/png;base64,${notice.toString('base64')}`);
    const gif = await sharp(notice).gif().toBuffer();
    expect(await service.client.extract({ body: gif, contentType: 'image/gif' })).to.include({ pages: 1 });
  });

  it('refuses with 415 the images that the vision model does not read, without asking it', async () => {
    expect(await refusalOf(await service.extract(notice, 'image/tiff'))).to.deep.equal([415, 'unsupported_image']);
    expect(await refusalOf(await service.extract(Buffer.from('none'), 'image/png'))).to.deep.equal([415, 'unreadable_image']);
    expect(remote.requests).to.have.length(0);
  });

  it('passes on every failure of the remote as 502, a 4xx too, with its Retry-After', async () => {
    for (const status of [400, 401, 404, 429, 500, 503]) {
      remote.answer = () => ({ status, body: { error: { message: 'key-of-the-remote is wrong' } }, headers: { 'retry-after': '7' } });
      const errors = await Promise.all([
        failureOf(service.client.summarize({ text: 'A text.' })),
        failureOf(service.client.embed({ texts: ['a'] })),
        failureOf(service.client.extract({ body: notice, contentType: 'image/png' })),
      ]);
      for (const [index, error] of errors.entries()) {
        const code = index === 2 ? 'ocr_failed' : 'remote_failed';
        expect(error, String(status)).to.include({ kind: 'failed', status: 502, code, retryable: true, retryAfterMs: 7000 });
        expect((error as Error).message).to.not.contain('key-of-the-remote');
      }
    }
    expect(service.program.stdout()).to.not.contain('key-of-the-remote');
  });

  for (const [server, status, message] of [
    ['vLLM', 400, "This model's maximum context length is 512 tokens. However, you requested 600 tokens in the input."],
    ['llama.cpp', 500, 'input (992 tokens) is too large to process. increase the physical batch size'],
  ] as const)
    it(`refuses for good a text that the model takes not whole, as ${server} says it`, async () => {
      remote.answer = () => ({ status, body: { error: message }, headers: { 'retry-after': '7' } });
      const final = { kind: 'rejected', status: 413, code: 'text_too_long_for_model', retryable: false };
      const errors = [service.client.embed({ texts: ['a'] }), service.client.summarize({ text: 'A text.' })].map(failureOf);
      for (const error of await Promise.all(errors)) expect(error).to.include(final);
      const image = await failureOf(service.client.extract({ body: notice, contentType: 'image/png' }));
      expect(image).to.include({ status: 502, code: 'ocr_failed', retryable: true });
    });

  it('takes no rate limit and no full server for a text that is too long', async () => {
    for (const [status, error] of [
      [429, 'tokens per minute: the maximum context length is 8192 tokens'],
      [500, 'decoding exceeds the available context size'],
    ] as const) {
      remote.answer = () => ({ status, body: { error } });
      expect(await failureOf(service.client.embed({ texts: ['a'] })), error).to.include({ status: 502, retryable: true });
    }
  });

  it('names a wait for a remote that limits its rate without naming one', async () => {
    remote.answer = () => ({ status: 429, body: {} });
    expect(await failureOf(service.client.embed({ texts: ['a'] }))).to.include({ status: 502, retryAfterMs: 5_000 });
    remote.answer = () => ({ status: 500, body: {} });
    expect(await failureOf(service.client.embed({ texts: ['a'] }))).to.have.property('retryAfterMs', undefined);
  });

  it('reads a wait that the remote names as a date, and takes an empty one for none', async () => {
    const waitAt = async (status: number, retryAfter: string) => {
      remote.answer = () => ({ status, body: {}, headers: { 'retry-after': retryAfter } });
      return ((await failureOf(service.client.embed({ texts: ['a'] }))) as AiServiceError).retryAfterMs;
    };
    const inAnHour = new Date(Date.now() + 3_600_000).toUTCString();
    expect(await waitAt(429, inAnHour)).to.be.within(3_500_000, 3_600_000);
    expect(await waitAt(503, inAnHour)).to.be.within(3_500_000, 3_600_000);
    expect(await waitAt(429, new Date(0).toUTCString())).to.equal(1_000);
    expect(await waitAt(429, '0.2')).to.equal(1_000);
    for (const nothing of ['', ' ', '-1', 'soon', 'soon enough']) {
      expect(await waitAt(429, nothing), nothing).to.equal(5_000);
      expect(await waitAt(503, nothing), nothing).to.equal(undefined);
    }
  });

  it('passes on answers of another form as 502', async () => {
    const ofOne = (embedding: unknown) => ({ data: [{ index: 0, embedding }] });
    const others = [ofOne([]), ofOne(['1', '2']), ofOne(null), chat('')];
    for (const body of ['no json', {}, { choices: [] }, { data: vectors(2) }, { data: [...vectors(1), ...vectors(1, 3)] }, ...others]) {
      remote.answer = () => ({ status: 200, body });
      const error = await failureOf(service.client.embed({ texts: ['a'] }));
      expect(error, JSON.stringify(body).slice(0, 60)).to.include({ status: 502, code: 'remote_failed' });
    }
    for (const body of [{ choices: [] }, { choices: [{ message: { content: 7 } }] }]) {
      remote.answer = () => ({ status: 200, body });
      expect(await failureOf(service.client.summarize({ text: 'A text.' }))).to.include({ status: 502, code: 'remote_failed' });
      const image = service.client.extract({ body: notice, contentType: 'image/png' });
      expect(await failureOf(image)).to.include({ status: 502, code: 'ocr_failed' });
    }
    remote.answer = () => chat('   ');
    expect(await failureOf(service.client.summarize({ text: 'A text.' }))).to.include({ status: 502, code: 'remote_failed' });
    expect((await service.client.extract({ body: notice, contentType: 'image/png' })).text).to.equal('');
  });

  it('follows no redirect, which would carry the key elsewhere', async () => {
    remote.answer = () => ({ status: 307, body: {}, headers: { location: `${remote.baseUrl}/elsewhere` } });
    expect(await failureOf(service.client.embed({ texts: ['a'] }))).to.include({ status: 502 });
    expect(remote.requests).to.have.length(1);
  });

  it('gives up on the vision model after OCR_TIMEOUT_SECONDS with 502', async () => {
    remote.answer = () => 'hang';
    const error = await failureOf(service.client.extract({ body: notice, contentType: 'image/png' }));
    expect(error).to.include({ status: 502, code: 'ocr_timeout', retryable: true });
  });

  it('stops asking when the caller leaves', async () => {
    remote.answer = () => 'hang';
    const leaving = new AbortController();
    const call = failureOf(service.client.embed({ texts: ['a'], signal: leaving.signal }));
    await until(() => remote.requests.length === 1);
    leaving.abort(new Error('left'));
    expect(await call).to.have.property('message', 'left');
    await service.program.printed(/caller went away/);
  });

  it('is 502 when nothing listens there', async () => {
    expect(await failureOf(service.client.rerank({ query: 'a', documents: ['b'] }))).to.include({ status: 502, code: 'remote_failed' });
  });
});

describe('the AI service with a remote model of few texts and dimensions', () => {
  const { remote, service } = useRemoteModel((baseUrl) => ({
    REMOTE_AI_BASE_URL: baseUrl,
    REMOTE_AI_KEY: 'key-of-the-remote',
    REMOTE_AI_EMBED: '?model=embedder&dimensions=3&chunkCharacters=300&batch=2&seconds=1',
    REMOTE_AI_PREVIOUS_EMBED: '?model=former&batch=2',
  }));
  beforeEach(() => {
    remote.answer = ({ body: { model, input, dimensions } }) => {
      if (model === 'former' && dimensions !== undefined) return { status: 400, body: { error: { message: 'no dimensions, please' } } };
      return { status: 200, body: { data: vectorsOf(input, dimensions ?? 5) } };
    };
  });

  const vectorsOf = (texts: string[], dimensions: number) =>
    texts.map((text, index) => ({ index, embedding: Array(dimensions).fill(Number(text)) }));

  it('asks for so many texts at a time, one after the other, and joins them in their order', async () => {
    const { vectors, dimensions } = await service.client.embed({ texts: ['1', '2', '3', '4', '5'] });
    expect(vectors.map(([first]) => first)).to.deep.equal([1, 2, 3, 4, 5]);
    expect(dimensions).to.equal(3);
    expect(remote.requests.map(({ body }) => body.input)).to.deep.equal([['1', '2'], ['3', '4'], ['5']]);
    expect(remote.requests.map(({ body }) => body.dimensions)).to.deep.equal([3, 3, 3]);
  });

  it('gives up on a batch after its seconds with 502', async () => {
    remote.answer = ({ body }) => (body.input.includes('5') ? 'hang' : { status: 200, body: { data: vectorsOf(body.input, 3) } });
    // A service that waited for as long as it does by default would be given up first.
    const impatient = createAiClient({ baseUrl: service.url, token, timeouts: { embedMs: 15_000 } });
    const error = await impatient.embed({ texts: ['1', '2', '3', '4', '5'] }).catch((error: unknown) => error);
    expect(error).to.include({ status: 502, code: 'remote_timeout', retryable: true });
    expect(remote.requests).to.have.length(3);
  });

  it('refuses vectors of another length, of one batch too', async () => {
    remote.answer = ({ body }) => ({ status: 200, body: { data: vectorsOf(body.input, body.input.includes('5') ? 4 : 3) } });
    const error = await service.client.embed({ texts: ['1', '2', '3', '4', '5'] }).catch((error: unknown) => error);
    expect(error).to.include({ status: 502, code: 'remote_failed' });
    expect((await service.client.embed({ texts: ['1', '2', '3', '4'] })).dimensions).to.equal(3);
  });

  it('embeds for an earlier index by its model, which has no number of dimensions, and by its own for one that it does not know', async () => {
    const embed = async (model: string, dimensions: number) => {
      const embedded = await service.client.embed({ texts: ['1'], index: { model, dimensions } });
      return [embedded.model, embedded.dimensions, remote.requests.at(-1)?.body.model];
    };
    expect(await embed('former', 5)).to.deep.equal(['former', 5, 'former']);
    expect(await embed('embedder', 8)).to.deep.equal(['embedder', 8, 'embedder']);
    expect(await embed('unheard-of', 7)).to.deep.equal(['embedder', 3, 'embedder']);
    const { embeddings } = await service.client.health();
    expect(embeddings.map(({ model, textsPerCall, chunkCharacters }) => [model, textsPerCall, chunkCharacters])).to.deep.equal([
      ['embedder', 2, 300],
      ['former', 2, 1_200],
      ['local-hash-256', 32, 1_200],
    ]);
  });
});

describe('the AI service with one remote model in both places, for a change of its dimensions alone', () => {
  const { remote, service } = useRemoteModel((baseUrl) => ({
    REMOTE_AI_BASE_URL: baseUrl,
    REMOTE_AI_KEY: 'key-of-the-remote',
    REMOTE_AI_EMBED_MODEL: 'elastic',
    REMOTE_AI_PREVIOUS_EMBED: '?model=elastic&dimensions=3',
  }));

  it('sends the number only for the former index', async () => {
    remote.answer = ({ body: { dimensions } }) => ({
      status: 200,
      body: { data: [{ index: 0, embedding: Array(dimensions ?? 6).fill(1) }] },
    });
    const lengths = [];
    for (const index of [undefined, { model: 'elastic', dimensions: 3 }])
      lengths.push((await service.client.embed({ texts: ['a'], index })).dimensions);
    expect(lengths).to.deep.equal([6, 3]);
    expect((await service.client.health()).embeddings.map(({ model }) => model)).to.deep.equal(['elastic', 'local-hash-256']);
  });
});
