import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { useApi } from '../support/use-api.ts';

describe('The main job', () => {
  const { api, tenant } = useApi();

  it('extracts, summarizes and indexes an uploaded PDF, and finds its passages by meaning', async () => {
    const { token } = tenant.owner;
    const bytes = readFileSync('docs/examples/samples/observatory-handbook.pdf');
    const { id: documentId } = await api.upload(tenant, { name: 'handbook.pdf', contentType: 'application/pdf', bytes });

    const jobs: Record<string, any> = {};
    for (const kind of ['document.extract', 'document.summarize', 'document.index']) {
      const created = await api.request('POST', '/api/v1/jobs', { token, body: { kind, documentId } });
      expect(created.status, JSON.stringify(created.body)).to.equal(200);
      expect(created.body).to.include({ status: 'queued', attempts: 0, kind });
      jobs[kind] = await api.jobIn(token, created.body.id, ['succeeded']);
    }

    expect(jobs['document.extract'].result).to.include({ pages: 5, truncated: false });
    expect(jobs['document.summarize'].result.sentences).to.equal(5);
    expect(jobs['document.index'].result).to.include({ model: 'local-hash-256', dimensions: 256 });

    const text = await api.request('GET', `/api/v1/documents/${documentId}/text`, { token });
    expect(text.body.text).to.include('Korvid Ridge');
    expect(text.body.extracted.pages).to.equal(5);

    const document = await api.request('GET', `/api/v1/documents/${documentId}`, { token });
    expect(document.body.chunkCount).to.equal(jobs['document.index'].result.chunks);

    const found = await api.request('POST', `/api/v1/workspaces/${tenant.workspaceId}/documents/search`, {
      token,
      body: { query: 'how are the mirrors washed?', limit: 3 },
    });
    expect(found.status).to.equal(200);
    expect(found.body.results[0].text).to.include('Mirrors are washed with deionised water');
    expect(found.body.results[0].score).to.be.within(0.1, 1);
  });

  it('charges each job once, and nothing for a search with local embeddings', async () => {
    const { organizationId } = tenant;
    const entries = await api.database.db.selectFrom('credit_entry').selectAll().where('organization_id', '=', organizationId).execute();
    expect(entries.map(({ amount }) => amount).sort()).to.deep.equal([1, 2, 5]);
  });
});
