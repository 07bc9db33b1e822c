import { expect } from 'chai';
import { type AiService, startAiService } from '../ai/support/ai-service.ts';
import { makeScannedPdf } from '../ai/support/scan.ts';
import { createJob } from '../support/jobs.ts';
import { useApi } from '../support/use-api.ts';

describe('a scanned document', () => {
  let ai: AiService;
  const { api, tenant } = useApi({
    check: 'at the end',
    async env() {
      ai = await startAiService({ OCR_PROVIDER: 'local', OCR_SCANNED_PDF: 'true' });
      return { AI_SERVICE_URL: ai.url, SERVICE_TOKEN: 'token-of-this-test' };
    },
  });
  after(() => ai.stop());

  it('is found by what it says, and tells how many pages text recognition has read', async () => {
    const { token } = tenant.owner;
    const bytes = await makeScannedPdf([{ text: 'A cover sheet.' }, { scan: ['The tenant pays for the gravel of the drive.'] }]);
    const { id: documentId } = await api.upload(tenant, { name: 'lease.pdf', contentType: 'application/pdf', bytes });
    const extraction = await createJob(api, tenant, { kind: 'document.extract', documentId });
    const extracted = await api.jobIn(token, extraction.id, ['succeeded', 'failed']);
    expect(extracted.result).to.include({ pages: 2, truncated: false, ocrPages: 1 });
    const indexing = await createJob(api, tenant, { kind: 'document.index', documentId });
    await api.jobIn(token, indexing.id, ['succeeded']);

    const { body: document } = await api.request('GET', `/api/v1/documents/${documentId}`, { token });
    expect(document.extracted).to.include({ pages: 2, ocrPages: 1 });
    const search = { method: 'POST', path: `/api/v1/workspaces/${tenant.workspaceId}/documents/search` };
    const found = await api.request(search.method, search.path, { token, body: { query: 'Who pays for the gravel?', mode: 'lexical' } });
    expect(found.body.results[0]).to.include({ documentId });
    expect(found.body.results[0].text).to.contain('gravel of the drive');
  });

  it('says nothing of text recognition if none was needed', async () => {
    const { token } = tenant.owner;
    const bytes = await makeScannedPdf([{ text: 'Typed.' }]);
    const { id: documentId } = await api.upload(tenant, { name: 'typed.pdf', contentType: 'application/pdf', bytes });
    const { id } = await createJob(api, tenant, { kind: 'document.extract', documentId });
    expect((await api.jobIn(token, id, ['succeeded', 'failed'])).result).to.not.have.property('ocrPages');
    const { body: document } = await api.request('GET', `/api/v1/documents/${documentId}`, { token });
    expect(document.extracted).to.not.have.property('ocrPages');
  });
});
