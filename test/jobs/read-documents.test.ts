import { expect } from 'chai';
import iconv from 'iconv-lite';
import { extraKinds as extraContentTypes } from '../../contract/content-types.ts';
import { type AiService, startAiService, token } from '../ai/support/ai-service.ts';
import { makeDocx, makeOdt, makePptx, wordParagraph } from '../ai/support/make-office.ts';
import { makeScannedPdf } from '../ai/support/scan.ts';
import { createJob } from '../support/jobs.ts';
import { useApi } from '../support/use-api.ts';

describe('A document of a kind that the deployment turned on', () => {
  let ai: AiService;
  const { api, tenant } = useApi({
    check: 'at the end',
    async env() {
      ai = await startAiService({ EXTRA_CONTENT_TYPES: 'docx,pptx' });
      return { AI_SERVICE_URL: ai.url, SERVICE_TOKEN: token, EXTRA_CONTENT_TYPES: 'docx,pptx' };
    },
  });
  after(() => ai.stop());
  const job = async (bytes: Buffer, kind: 'docx' | 'pptx' = 'docx') => {
    const { id: documentId } = await api.upload(tenant, { name: `lease.${kind}`, contentType: extraContentTypes[kind], bytes });
    const { id } = await createJob(api, tenant, { kind: 'document.extract', documentId });
    return { documentId, job: await api.jobIn(tenant.owner.token, id, ['succeeded', 'failed']) };
  };

  it('is uploaded, read and shown', async () => {
    const { documentId } = await job(makeDocx(wordParagraph('The tenant pays for the gravel.')));
    const { body } = await api.request('GET', `/api/v1/documents/${documentId}/text`, { token: tenant.owner.token });
    expect(body.text).to.match(/^The tenant pays for the gravel\./);
  });

  it('is shown by slide if it is a presentation', async () => {
    const slides = ['The lease', 'The tenant pays for the gravel.'].map((text) => `<a:p><a:r><a:t>${text}</a:t></a:r></a:p>`);
    const { documentId } = await job(makePptx(slides), 'pptx');
    const { status, body } = await api.request('GET', `/api/v1/documents/${documentId}/text?page=2`, { token: tenant.owner.token });
    expect({ status, text: body.text }).to.deep.equal({ status: 200, text: 'The tenant pays for the gravel.' });
  });

  it('is refused with the setting that would let it in, and described as taken only where it is', async () => {
    const body = { workspaceId: tenant.workspaceId, name: 'a.epub', contentType: extraContentTypes.epub, size: 5 };
    const { status, body: refusal } = await api.request('POST', '/api/v1/documents', { token: tenant.owner.token, body });
    const { body: described } = await api.request('GET', '/api/v1/openapi.json');
    expect(status).to.equal(400);
    expect(refusal.message)
      .to.include(`${extraContentTypes.docx}, ${extraContentTypes.pptx}.`)
      .and.to.match(/may add epub to EXTRA_CONTENT_TYPES$/);
    const kinds = described.components.schemas.ContentType.enum;
    expect(kinds).to.include.members([extraContentTypes.docx, extraContentTypes.pptx]).and.not.to.include(extraContentTypes.epub);
  });

  it('fails its job clearly if it is another kind inside', async () => {
    const { job: failed } = await job(makeOdt('<text:p>No Word at all.</text:p>'));
    expect(failed).to.include({ status: 'failed', attempts: 1 });
    expect(failed.error).to.deep.equal({
      code: 'unreadable_document',
      message: 'The document is damaged or is not a Word document.',
    });
  });
});

describe('a document where nothing is set', () => {
  const { api, tenant } = useApi({ ai: false, check: 'at the end' });

  it('is read by the charset that was declared with it or later, and otherwise by what its bytes look like', async () => {
    const { token } = tenant.owner;
    const readAgain = async (documentId: string) => {
      const { id } = await createJob(api, tenant, { kind: 'document.extract', documentId });
      const { result } = await api.jobIn(token, id, ['succeeded']);
      const { text } = (await api.request('GET', `/api/v1/documents/${documentId}/text`, { token })).body;
      return { documentId, text, notices: result.notices?.map(({ code }: { code: string }) => code) };
    };
    const read = async (charset?: string) => {
      const bytes = iconv.encode('Größe: 5 m, Fläche: 7 m²', 'windows-1252');
      const body = { workspaceId: tenant.workspaceId, name: 'a.txt', contentType: 'text/plain', size: bytes.length, charset };
      const { document, upload } = (await api.request('POST', '/api/v1/documents', { token, body })).body;
      await fetch(upload.url, { method: 'PUT', headers: upload.headers, body: new Uint8Array(bytes) });
      await api.request('POST', `/api/v1/documents/${document.id}/complete`, { token });
      return await readAgain(document.id);
    };
    expect(await read()).to.deep.include({ text: 'Größe: 5 m, Fläche: 7 m²', notices: ['charset_guessed'] });
    expect(await read('iso-8859-1')).to.deep.include({ text: 'Größe: 5 m, Fläche: 7 m²', notices: undefined });
    // What was declared counts, also if it is wrong, until it is corrected.
    const wrong = await read('windows-1251');
    expect(wrong.text).to.match(/^GrцЯe/);
    await api.request('PATCH', `/api/v1/documents/${wrong.documentId}`, { token, body: { charset: 'windows-1252' } });
    expect(await readAgain(wrong.documentId)).to.deep.include({ text: 'Größe: 5 m, Fläche: 7 m²', notices: undefined });
  });

  it('says that it is a scan that was not read, and which setting reads it, on the document, in lists, with its text and in its job', async () => {
    const { token } = tenant.owner;
    const bytes = await makeScannedPdf([{ text: 'A cover sheet.' }, { scan: ['Gravel.'] }, { scan: ['More gravel.'] }]);
    const { id: documentId } = await api.upload(tenant, { name: 'lease.pdf', contentType: 'application/pdf', bytes });
    const { id } = await createJob(api, tenant, { kind: 'document.extract', documentId });
    const job = await api.jobIn(token, id, ['succeeded', 'failed']);
    const text = 'Pages 2 to 3 have pictures, in which text is not read while OCR_SCANNED_PDF is off.';
    const notices = [{ code: 'scan_not_read', text }];
    expect(job.result.notices).to.deep.equal(notices);
    const { body: document } = await api.request('GET', `/api/v1/documents/${documentId}`, { token });
    expect(document.extracted.notices).to.deep.equal(notices);
    const { body: shown } = await api.request('GET', `/api/v1/documents/${documentId}/text`, { token });
    expect(shown.extracted.notices).to.deep.equal(notices);
    const ofWorkspace = `/api/v1/workspaces/${tenant.workspaceId}/documents?organizationId=${tenant.organizationId}`;
    const { body: list } = await api.request('GET', ofWorkspace, { token });
    expect(list.items[0].extracted.notices).to.deep.equal(notices);
  });
});

describe('a scanned document', () => {
  let ai: AiService;
  const { api, tenant } = useApi({
    check: 'at the end',
    async env() {
      ai = await startAiService({ OCR_PROVIDER: 'local', OCR_SCANNED_PDF: 'true' });
      return { AI_SERVICE_URL: ai.url, SERVICE_TOKEN: token };
    },
  });
  after(() => ai.stop());

  it('is found by a question about it, with its page, and tells how many pages text recognition has read', async () => {
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
    const [typed, scanned] = document.extracted.ocrConfidence;
    expect(typed).to.equal(null);
    expect(scanned).to.be.within(80, 100);
    const { body: list } = await api.request(
      'GET',
      `/api/v1/workspaces/${tenant.workspaceId}/documents?organizationId=${tenant.organizationId}`,
      { token },
    );
    expect(list.items.find(({ id }: { id: string }) => id === documentId).extracted).to.deep.equal(document.extracted);
    const search = { method: 'POST', path: `/api/v1/workspaces/${tenant.workspaceId}/documents/search` };
    for (const mode of ['semantic', 'lexical', 'hybrid']) {
      const body = { query: 'Who pays for the gravel?', mode, include: ['citation', 'highlights'] };
      const [best] = (await api.request(search.method, search.path, { token, body })).body.results;
      expect(best, mode).to.include({ documentId });
      expect(best.text, mode).to.contain('gravel of the drive');
      const marked = best.highlights.find(({ start, end }: { start: number; end: number }) => best.text.slice(start, end) === 'gravel');
      expect(marked.page, mode).to.equal(2);
      expect(best.citation.lastPage, mode).to.equal(2);
    }
  });
});
