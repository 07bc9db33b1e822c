import { expect } from 'chai';
import { getDocument } from '../../domain/documents/document.ts';
import { storeChunks } from '../../domain/search/store-chunks.ts';
import { aiError } from '../support/fake-ai.ts';
import { callOver } from '../support/transports.ts';
import { useApi } from '../support/use-api.ts';
import { billingOn } from './auth/support/service.ts';

const billing = { ...billingOn, PLANS: '{"free":{"aiCredits":3}}' };
const texts = ['The mirror is washed on Mondays.', 'The dome closes in a storm.', 'Mirror, mirror.'];

describe('The modes of a search', () => {
  const { api, ai, tenant } = useApi({
    ai: true,
    env: { WORKER_ENABLED: 'false', SEARCH_LIMIT_PER_MINUTE: '1000', ...billing },
    tenant: 'of each test',
  });
  before(() => {
    ai.provider = 'remote';
  });
  beforeEach(async () => {
    ai.behave('embed');
    ai.calls.length = 0;
    const { token } = tenant.owner;
    const upload = { workspaceId: tenant.workspaceId, name: 'log.txt', contentType: 'text/plain', size: 1 };
    const { id } = (await api.request('POST', '/api/v1/documents', { token, body: upload })).body.document;
    const document = await getDocument(api.database.db, id);
    const chunks = texts.map((text, index) => ({ text, embedding: [index, 1] }));
    await api.database.db
      .transaction()
      .execute((trx) => storeChunks(trx, document, { model: 'fake', dimensions: 2, chunking: '1' }, chunks));
  });

  const search = (input: Record<string, unknown>) =>
    callOver(
      api,
      'REST',
      'documents.search',
      { workspaceId: tenant.workspaceId, query: 'mirror', ...input },
      { token: tenant.owner.token },
    );
  const usedCredits = async (): Promise<number> =>
    (await api.request('GET', `/api/v1/organizations/${tenant.organizationId}/usage`, { token: tenant.owner.token })).body.usage.aiCredits;
  const always = ['chunkId', 'documentId', 'documentName', 'index', 'rank', 'score', 'text'];

  it('has the specified shape by meaning, also without a mode', async () => {
    const { body } = await search({});
    expect((await search({ mode: 'semantic' })).body).to.deep.equal(body);
    expect(body).to.have.all.keys('model', 'results');
    expect(body.results).to.have.length(3);
    for (const [index, result] of body.results.entries()) {
      expect(Object.keys(result).sort()).to.deep.equal(always);
      expect(result.rank).to.equal(index + 1);
      expect(result.score).to.be.a('number');
    }
    expect(await usedCredits()).to.equal(2);
  });

  it('needs no AI service and no credit by words', async () => {
    ai.behave('embed', () => aiError(500, 'internal'));
    for (let times = 0; times < 4; times++) {
      const { status, body } = await search({ mode: 'lexical' });
      expect(status).to.equal(200);
      expect(body.model).to.equal('bm25');
      expect(body.results.map(({ text }: { text: string }) => text)).to.deep.equal([texts[2], texts[0]]);
      for (const [place, { score, lexicalScore, rank }] of body.results.entries()) {
        expect({ score, rank }).to.deep.equal({ score: null, rank: place + 1 });
        expect(lexicalScore).to.be.above(0);
      }
    }
    expect([ai.calls.length, await usedCredits()]).to.deep.equal([0, 0]);
  });

  it('finds nothing without a letter or digit, names the model, and costs nothing', async () => {
    const { organizationId, owner } = tenant;
    const body = { organizationId, name: 'Empty', slug: 'empty' };
    const empty = (await api.request('POST', '/api/v1/workspaces', { token: owner.token, body })).body.id;
    for (const workspaceId of [tenant.workspaceId, empty])
      for (const [mode, model] of [
        ['semantic', 'fake'],
        ['hybrid', 'fake'],
        ['lexical', 'bm25'],
      ])
        expect((await search({ workspaceId, mode, query: '?! …' })).body, mode).to.deep.equal({ model, results: [] });
    expect(await usedCredits()).to.equal(0);
  });

  it('ranks by both, for a credit', async () => {
    const { body } = await search({ mode: 'hybrid', limit: 2 });
    expect(body.model).to.equal('fake');
    expect(body.results).to.have.length(2);
    for (const [place, { score, lexicalScore, rank }] of body.results.entries()) {
      expect([score, lexicalScore, rank]).to.satisfy((all: unknown[]) => all.every((value) => typeof value === 'number'));
      expect(rank).to.equal(place + 1);
    }
    expect(await usedCredits()).to.equal(1);
  });

  it('is unavailable while the query cannot be embedded, costs nothing then, and tells nothing of why', async () => {
    for (const [mode, behaviour] of [
      ['hybrid', () => aiError(500, 'internal')],
      ['semantic', () => aiError(413, 'text_too_long_for_model')],
      ['semantic', () => ({ status: 500, body: { error: { code: 'internal', message: 'a secret' } } })],
      ['semantic', () => ({ body: 'no JSON' })],
      ['semantic', () => ({ body: { model: 'fake', dimensions: 2, vectors: [] } })],
      ['semantic', () => ({ body: {}, cut: true })],
    ] as const) {
      ai.behave('embed', behaviour);
      expect((await search({ mode })).body).to.deep.equal({
        ...{ defined: true, code: 'SERVICE_UNAVAILABLE', status: 503, message: 'The AI service could not embed the query.' },
      });
    }
    expect(await usedCredits()).to.equal(0);
  });

  it('is unavailable for as long as the model says that limits its rate', async () => {
    for (const [asked, told] of [
      ['17', '17'],
      ['0', '2'],
    ] as const) {
      ai.behave('embed', () => aiError(502, 'remote_failed', { 'retry-after': asked }));
      const { status, headers } = await search({ mode: 'semantic' });
      expect([status, headers.get('retry-after')]).to.deep.equal([503, told]);
    }
  });
});

describe('The default mode of a search', () => {
  const { api, ai, tenant } = useApi({ ai: true, env: { WORKER_ENABLED: 'false', SEARCH_DEFAULT_MODE: 'lexical' } });

  it('is the one that the deployment sets', async () => {
    const input = { workspaceId: tenant.workspaceId, query: 'mirror' };
    expect((await callOver(api, 'REST', 'documents.search', input, { token: tenant.owner.token })).body).to.deep.equal({
      model: 'bm25',
      results: [],
    });
    expect(ai.calls).to.deep.equal([]);
  });
});
