import { expect } from 'chai';
import { splitToFit } from '../../ai/embedding/minilm/split-to-fit.ts';
import { findFreePorts } from '../../ops/local/ports.ts';
import { createJob } from '../support/jobs.ts';
import { nightly } from '../support/nightly.ts';
import { childrenOf, until } from '../support/processes.ts';
import { useApi } from '../support/use-api.ts';
import { type AiService, startAiService, token } from './support/ai-service.ts';
import { useAiService } from './support/use-ai-service.ts';

describe('A text that is longer than the local sentence model takes', () => {
  const words = (text: string) => text.split(/\s+/).filter((word) => word !== '').length;

  it('is cut into parts that fit, at white space, and nothing of it is lost', () => {
    const text = Array.from({ length: 1_000 }, (_, n) => `word${n}`).join(' ');
    const parts = splitToFit(text, words, 256);
    expect(parts.map((part) => part.text).join('')).to.equal(text);
    for (const part of parts) expect(part.tokens).to.equal(words(part.text)).and.to.be.at.most(256);
    expect(parts.every(({ text: part }, place) => place === 0 || /^\s/.test(part))).to.equal(true);
  });

  it('is cut without white space too, within no surrogate pair', () => {
    for (const text of ['蜂'.repeat(999), '🐝'.repeat(999), `a${'🐝'.repeat(999)}`, 'x'.repeat(8_000)]) {
      const parts = splitToFit(text, (part) => part.length, 100);
      expect(parts.map((part) => part.text).join('')).to.equal(text);
      for (const part of parts) expect(part.text.isWellFormed() && part.tokens <= 100, part.text.slice(0, 4)).to.equal(true);
    }
  });

  it('is left whole if it fits, however long', () => {
    expect(splitToFit('a b', words, 2)).to.deep.equal([{ text: 'a b', tokens: 2 }]);
    expect(splitToFit('', words, 2)).to.deep.equal([{ text: '', tokens: 0 }]);
  });
});

describe('A workspace that the local sentence model has indexed', () => {
  const minilm = { AI_PORT: '' };
  let service: AiService;
  const { api, tenant } = useApi({
    env: async () => {
      const [port] = await findFreePorts(1);
      minilm.AI_PORT = String(port);
      service = await startAiService({ ...minilm, LOCAL_EMBED_MODEL: 'minilm' });
      return { AI_SERVICE_URL: service.url, SERVICE_TOKEN: token, SEARCH_LIMIT_PER_MINUTE: '1000' };
    },
    check: 'at the end',
  });
  after(() => service.stop());

  nightly('is searched by its vectors after the change to the hash', async () => {
    const { id: documentId } = await api.upload(tenant, { bytes: 'Customers may ask for a refund.' });
    const { id } = await createJob(api, tenant, { kind: 'document.index', documentId });
    expect((await api.jobIn(tenant.owner.token, id, ['succeeded', 'failed'])).result).to.include({ model: 'local-minilm-l6-v2' });
    await service.stop();
    service = await startAiService({ ...minilm, LOCAL_EMBED_MODEL: 'hash,minilm' });
    const path = `/api/v1/workspaces/${tenant.workspaceId}/documents/search`;
    const query = { query: 'how do I get my money back', mode: 'semantic' };
    const search = () => api.request('POST', path, { token: tenant.owner.token, body: query });
    // The model is still being loaded.
    await until(async () => (await search()).status === 200);
    const { body } = await search();
    expect(body.model).to.equal('local-minilm-l6-v2');
    expect(body.results.map((result: { documentId: string }) => result.documentId)).to.deep.equal([documentId]);
  });
});

describe('The local sentence model', () => {
  const service = useAiService({ LOCAL_EMBED_MODEL: 'minilm' });

  const embed = async (...texts: string[]) => (await service.client.embed({ texts })).vectors;
  const cosine = (one: number[] = [], other: number[] = []) => one.reduce((sum, value, index) => sum + value * (other[index] ?? 0), 0);

  it('is the one of the service, which still has the hash, and says how it wants its texts', async () => {
    const { ok, provider, embeddings, problems } = await service.client.health();
    expect({ ok, provider, problems }).to.deep.equal({ ok: true, provider: 'local', problems: [] });
    expect(embeddings).to.deep.equal([
      { model: 'local-minilm-l6-v2', dimensions: 384, chunkCharacters: 900, textsPerCall: 4 },
      { model: 'local-hash-256', dimensions: 256, chunkCharacters: 1_200, textsPerCall: 32 },
    ]);
    const { model, dimensions } = await service.client.embed({ texts: ['a'], index: { model: 'local-hash-256', dimensions: 256 } });
    expect({ model, dimensions }).to.deep.equal({ model: 'local-hash-256', dimensions: 256 });
  });

  it('compares what is meant, in other words, in the order of the texts', async () => {
    const [query, meant, other] = await embed(
      'how do I get my money back',
      'Customers may ask for a refund.',
      'The dome closes in a storm.',
    );
    expect(query).to.have.length(384);
    expect(Math.hypot(...(query ?? []))).to.be.closeTo(1, 1e-4);
    expect(cosine(query, meant)).to.be.above(cosine(query, other) + 0.2);
  });

  nightly('embeds the whole of a text, of which the engine would leave out the end', async () => {
    const filler = 'The committee met on Tuesday and discussed the agenda of the next meeting in some detail. '.repeat(20);
    const [question, withEnd, without] = await embed(
      'varroa mites in a bee hive',
      `${filler}Varroa mites were counted in the hives of the bees. `.repeat(1) + 'The bees had mites in the hive. '.repeat(8),
      filler,
    );
    expect(cosine(question, withEnd)).to.be.above(cosine(question, without) + 0.1);
    expect(Math.hypot(...(withEnd ?? []))).to.be.closeTo(1, 1e-4);
  });

  it('embeds whatever it is given', async () => {
    for (const vector of await embed('', ' \n', '🐝'.repeat(300), 'a\0b', '\ud83c')) {
      expect(vector).to.have.length(384);
      expect(vector.every(Number.isFinite)).to.equal(true);
    }
  });

  nightly('embeds a text again in another process when one is killed', async () => {
    const child = () => childrenOf(service.pid).find(({ command }) => command.includes('minilm/child.ts'));
    const killed = child();
    const embedding = embed('a text '.repeat(120), 'another text '.repeat(120));
    if (killed) process.kill(killed.pid, 'SIGKILL');
    expect(await embedding).to.have.length(2);
    await until(() => child() !== undefined && child()?.pid !== killed?.pid);
  });
});
