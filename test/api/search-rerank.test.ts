import { expect } from 'chai';
import { getDocument } from '../../domain/documents/document.ts';
import { storeChunks } from '../../domain/search/store-chunks.ts';
import { aiError } from '../support/fake-ai.ts';
import { useApi } from '../support/use-api.ts';

const count = 60;
const names = Array.from({ length: count }, (_, index) => `The mirror has the number ${index}.`);

describe('A hybrid search with SEARCH_RERANK', () => {
  const { api, ai, tenant } = useApi({
    ai: true,
    env: { WORKER_ENABLED: 'false', SEARCH_LIMIT_PER_MINUTE: '1000', SEARCH_RERANK: 'true' },
    tenant: 'shared',
  });
  before(async () => {
    const { token } = tenant.owner;
    const upload = { workspaceId: tenant.workspaceId, name: 'log.txt', contentType: 'text/plain', size: 1 };
    const { id } = (await api.request('POST', '/api/v1/documents', { token, body: upload })).body.document;
    const document = await getDocument(api.database.db, id);
    const chunks = names.map((text, index) => ({ text, embedding: [1, index] }));
    const index = { model: 'fake', dimensions: 2, chunking: '1' };
    await api.database.db.transaction().execute((trx) => storeChunks(trx, document, index, chunks));
  });
  beforeEach(() => {
    ai.behave('rerank');
    ai.calls.length = 0;
  });

  const search = async (mode: string, limit = 10): Promise<{ text: string; rank: number }[]> => {
    const path = `/api/v1/workspaces/${tenant.workspaceId}/documents/search`;
    const { status, body } = await api.request('POST', path, { token: tenant.owner.token, body: { query: 'mirror number', mode, limit } });
    expect(status).to.equal(200);
    return body.results;
  };
  const textsOf = (results: { text: string }[]) => results.map(({ text }) => text);
  const rankings = () => ai.calls.filter(({ operation }) => operation === 'rerank');

  /** The order without the model. */
  async function asBefore(limit: number): Promise<string[]> {
    ai.behave('rerank', () => aiError(422, 'no_reranker'));
    const texts = textsOf(await search('hybrid', limit));
    ai.behave('rerank');
    ai.calls.length = 0;
    return texts;
  }

  it('has its first 50 passages ranked by the model, and returns the best of them', async () => {
    const first = await asBefore(50);
    const found = await search('hybrid', 5);
    expect(rankings().map(({ body }) => body)).to.deep.equal([{ query: 'mirror number', documents: first }]);
    expect(ai.calls.map((call) => call.tenant)).to.deep.equal([`${tenant.organizationId} asks`, tenant.organizationId]);
    expect(textsOf(found)).to.deep.equal(first.toReversed().slice(0, 5));
    expect(found.map(({ rank }) => rank)).to.deep.equal([1, 2, 3, 4, 5]);
  });

  it('asks no model by meaning or by words alone', async () => {
    for (const mode of ['semantic', 'lexical']) await search(mode);
    expect(rankings()).to.be.empty;
  });

  it('goes without it when it fails or does not respond', async () => {
    const first = await asBefore(10);
    for (const failing of [() => aiError(502, 'remote_failed'), () => ({ body: { model: 'm', results: 'none' } }), () => undefined]) {
      ai.behave('rerank', failing);
      expect(textsOf(await search('hybrid'))).to.deep.equal(first);
      expect(rankings().length).to.be.above(0);
    }
  });
});
