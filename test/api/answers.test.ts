import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { sliceCharacters } from '../../clients/typescript/index.ts';
import { createKey } from '../support/api-keys.ts';
import { expectOk } from '../support/requests.ts';
import { callOver } from '../support/transports.ts';
import { useApi } from '../support/use-api.ts';

const samples = {
  'observatory-handbook.pdf': 'application/pdf',
  'beekeeping-notes.md': 'text/markdown',
  'ferry-timetable.html': 'text/html',
  'lighthouse-log.txt': 'text/plain',
  'seed-inventory.csv': 'text/csv',
  'trail-notice.png': 'image/png',
};

/** Questions with what the first sentence's quote has to hold, and where that stands. */
const questions: [question: string, document: keyof typeof samples, page: number | null, holds: RegExp][] = [
  ['When does the supply truck leave for the observatory?', 'observatory-handbook.pdf', 1, /every\s+Tuesday\s+and\s+Friday\s+at\s+13:30/],
  ['Which wind speed closes the dome?', 'observatory-handbook.pdf', 4, /55\s+kilometres\s+per\s+hour/],
  ['What does a bicycle ticket cost on the ferry?', 'ferry-timetable.html', null, /1\.50/],
  ['Where is the adrenaline pen?', 'beekeeping-notes.md', null, /yellow\s+tin/],
  ['What was the lowest reading of the barometer?', 'lighthouse-log.txt', null, /28\.31\s+inches/],
];

describe('An answer without a remote model', () => {
  const { api, tenant } = useApi({ env: { SEARCH_LIMIT_PER_MINUTE: '1000', QUESTION_LIMIT_PER_MINUTE: '1000' }, check: 'at the end' });
  const ids = new Map<string, string>();

  before(async function () {
    this.timeout(240_000);
    for (const [name, contentType] of Object.entries(samples)) {
      const bytes = readFileSync(new URL(`../../docs/examples/samples/${name}`, import.meta.url));
      const { id } = await api.upload(tenant, { name, contentType, bytes });
      ids.set(name, id);
      const { token } = tenant.owner;
      const { body } = await expectOk(api.request('POST', '/api/v1/jobs', { token, body: { kind: 'document.index', documentId: id } }));
      await api.jobIn(token, body.id, ['succeeded'], 200_000);
    }
  });

  const ask = (input: object, token = tenant.owner.token) =>
    callOver(api, 'REST', 'documents.ask', { workspaceId: tenant.workspaceId, ...input }, { token });

  for (const [question, document, page, holds] of questions)
    it(`quotes what responds to: ${question}`, async () => {
      const { status, body } = await ask({ question, mode: 'hybrid' });
      expect(status, JSON.stringify(body)).to.equal(200);
      expect(body).to.include({ withheld: 0, nothingFound: false, extractive: true, model: null, credits: 3 });
      const citations = body.sentences.flatMap((sentence: any) => sentence.citations);
      const best = citations.find(({ quote }: { quote: string }) => holds.test(quote));
      expect(best, JSON.stringify(body.sentences)).to.include({
        documentId: ids.get(document),
        documentName: document,
        page,
        exact: true,
        recognized: false,
      });
      for (const citation of citations) expect(await textAt(citation)).to.equal(citation.quote);
    });

  it('quotes text that was recognized, and says so', async () => {
    const { body } = await ask({ question: 'Why is the trail closed?', filter: { documentIds: [ids.get('trail-notice.png')] } });
    const [citation] = body.sentences[0].citations;
    expect(citation).to.include({ documentName: 'trail-notice.png', page: 1, exact: true, recognized: true });
    expect(await textAt(citation)).to.equal(citation.quote);
  });

  it('shows the record of JSON that responds, as it is written, with its keys', async () => {
    const { token } = tenant.owner;
    const lamps = ['K1', 'K2', 'K3'].map((model, at) => ({ model, weight: `${410 + at} g` }));
    const bytes = JSON.stringify({ shop: 'Quay', lamps });
    const { id: documentId } = await api.upload(tenant, { name: 'lamps.json', contentType: 'application/json', bytes });
    const { body: job } = await expectOk(api.request('POST', '/api/v1/jobs', { token, body: { kind: 'document.index', documentId } }));
    await api.jobIn(token, job.id, ['succeeded']);
    const { body } = await ask({ question: 'What is the weight of the model K2?', filter: { documentIds: [documentId] } });
    expect(body.sentences[0].text).to.equal('"model":"K2","weight":"411 g"');
    expect(await textAt(body.sentences[0].citations[0])).to.equal(body.sentences[0].text);
    expect(body.sentences[0].citations[0].context).to.deep.include({
      parents: ['lamps'],
      cells: [
        { head: 'model', text: 'K2' },
        { head: 'weight', text: '411 g' },
      ],
    });
  });

  it('names the headings that a quote is under, not those of its chunk, also after the document was extracted again', async () => {
    const { token } = tenant.owner;
    const bytes = '# Opening hours\n\nThe kiosk opens at nine.\n\n# Warranty\n\nThe warranty of a kettle lasts thirty months.\n';
    const { id: documentId } = await api.upload(tenant, { name: 'kiosk.md', contentType: 'text/markdown', bytes });
    for (const kind of ['document.index', 'document.extract']) {
      const { body: job } = await expectOk(api.request('POST', '/api/v1/jobs', { token, body: { kind, documentId } }));
      await api.jobIn(token, job.id, ['succeeded']);
      const { body } = await ask({ question: 'How long does the warranty of a kettle last?', filter: { documentIds: [documentId] } });
      expect(body.sentences[0].citations[0]).to.deep.include({ documentId, headings: ['Warranty'] });
    }
  });

  it('says that nothing was found, and fills nothing in', async () => {
    const { body } = await ask({ question: 'Who won the cricket championship in Lahore?', mode: 'semantic' });
    expect(body).to.deep.include({ sentences: [], withheld: 0, nothingFound: true });
  });

  it('looks only in documents that meet the filter, and of its own workspace', async () => {
    const filter = { documentIds: [ids.get('ferry-timetable.html')] };
    const { body } = await ask({ question: 'Where is the adrenaline pen?', mode: 'lexical', filter });
    expect(body.sentences.flatMap(({ citations }: any) => citations.map(({ documentName }: any) => documentName))).to.not.include(
      'beekeeping-notes.md',
    );
    const other = await api.createTenant();
    const theirs = await ask({ workspaceId: other.workspaceId, question: 'Where is the adrenaline pen?' }, other.owner.token);
    expect(theirs.body).to.deep.include({ sentences: [], nothingFound: true });
    expect((await ask({ question: 'pen' }, other.owner.token)).status).to.equal(403);
    const key = await createKey(api, other, { permissions: ['document:read'] });
    expect((await ask({ question: 'pen' }, key.token)).status).to.equal(403);
  });

  /** What stands in a document's text where a citation says. */
  async function textAt(citation: { documentId: string; start: number; end: number }): Promise<string> {
    const { body } = await callOver(api, 'REST', 'documents.text', { id: citation.documentId }, { token: tenant.owner.token });
    return sliceCharacters(body.text, citation);
  }
});

describe('The limit of questions', () => {
  const { api, tenant } = useApi({
    ai: true,
    env: { QUESTION_LIMIT_PER_MINUTE: '2', SEARCH_LIMIT_PER_MINUTE: '1', WORKER_ENABLED: 'false' },
  });

  it('is its own, and uses up no search', async () => {
    const { token } = tenant.owner;
    const { workspaceId } = tenant;
    const ask = () => callOver(api, 'REST', 'documents.ask', { workspaceId, question: 'mirrors' }, { token });
    for (let n = 0; n < 2; n++) expect((await ask()).status).to.equal(200);
    const refused = await ask();
    expect(refused.body).to.include({ code: 'TOO_MANY_REQUESTS', defined: true });
    expect(refused.body.message).to.equal('Too many questions — try again in a minute.');
    expect(refused.headers.get('retry-after')).to.match(/^\d+$/);
    expect((await callOver(api, 'REST', 'documents.search', { workspaceId, query: 'mirrors' }, { token })).status).to.equal(200);
    const { token: key } = await createKey(api, tenant, { permissions: ['document:read'] });
    const byKey = await callOver(api, 'REST', 'documents.ask', { workspaceId, question: 'mirrors' }, { token: key });
    expect(byKey.status).to.equal(200);
  });
});
