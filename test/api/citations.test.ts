import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import PDFDocument from 'pdfkit';
import { title } from '../../docs/examples/samples/handbook.ts';
import { callOver } from '../support/transports.ts';
import { useApi } from '../support/use-api.ts';

const sample = (name: string) => readFileSync(`docs/examples/samples/${name}`);
const modes = ['semantic', 'lexical', 'hybrid'] as const;

describe('Citations', () => {
  const { api, tenant } = useApi({ env: { SEARCH_LIMIT_PER_MINUTE: '1000' } });
  let handbook: string;
  let notes: string;

  const call = (operation: string, input: Record<string, unknown>) =>
    callOver(api, 'REST', operation, input, { token: tenant.owner.token });
  const search = async (input: Record<string, unknown>): Promise<any[]> =>
    (await call('documents.search', { workspaceId: tenant.workspaceId, ...input })).body.results;
  const textOf = async (id: string, page?: number) => (await call('documents.text', { id, ...(page === undefined ? {} : { page }) })).body;
  const cut = (text: string, { start, end }: { start: number; end: number }) => [...text].slice(start, end).join('');

  async function run(kind: string, documentId: string): Promise<any> {
    const { body } = await call('jobs.create', { kind, documentId });
    return await api.jobIn(tenant.owner.token, body.id, ['succeeded', 'failed']);
  }
  async function index(name: string, contentType: string): Promise<string> {
    const { id } = await api.upload(tenant, { name, contentType, bytes: sample(name) });
    expect(await run('document.index', id)).to.include({ status: 'succeeded' });
    return id;
  }

  before(async () => {
    handbook = await index('observatory-handbook.pdf', 'application/pdf');
    notes = await index('beekeeping-notes.md', 'text/markdown');
  });

  for (const mode of modes) {
    it(`lead to the place in the text and to its page, in mode ${mode}`, async () => {
      const whole = (await textOf(handbook)).text;
      const filter = { documentIds: [handbook] };
      const query = 'thorium-argon lamp';
      const results = await search({ query, mode, filter, include: ['citation', 'highlights'], limit: 50 });
      expect(results.length).to.be.greaterThan(1);
      expect(results[0].text.replace(/\s+/g, ' ')).to.include(query);
      expect(results[0].citation.headings).to.deep.equal([title, '2. Telescopes and instruments', '2.1 The spectrograph of the Lantern']);
      for (const { text, citation, highlights } of results) {
        expect(citation).to.have.all.keys('page', 'lastPage', 'headings', 'start', 'end');
        expect(cut(whole, citation)).to.equal(text);
        expect(citation.page).to.be.within(1, 5);
        expect(citation.lastPage).to.be.within(citation.page, 5);
        const { page } = await textOf(handbook, citation.page);
        expect(citation.start).to.be.within(page.start, page.end - 1);
        for (const one of highlights) {
          expect(cut(text, one).toLowerCase()).to.match(/thorium|argon|lamp/);
          expect((await textOf(handbook, one.page)).text).to.include(cut(text, one));
        }
      }
      expect(results[0].highlights.map((one: never) => cut(results[0].text, one).toLowerCase())).to.include.members([
        'thorium-argon',
        'lamp',
      ]);
      const [plain] = await search({ query, mode, filter, limit: 1 });
      expect(plain).to.not.have.any.keys('citation', 'highlights');
      const [cited] = await search({ query, mode, filter, limit: 1, include: ['citation'] });
      expect(cited).to.have.property('citation');
      expect(cited).to.not.have.property('highlights');
    });
  }

  it('are by page where the text is asked for by page', async () => {
    const { text: whole, extracted } = await textOf(handbook);
    let end = 0;
    for (let number = 1; number <= 5; number += 1) {
      const body = await textOf(handbook, number);
      expect(body).to.deep.include({ documentId: handbook, truncated: false, extracted });
      expect(body.page).to.deep.include({ number, start: end });
      expect(cut(whole, body.page).trim()).to.equal(body.text);
      end = body.page.end;
    }
    expect(end).to.equal(extracted.characters);
    for (const [id, page] of [
      [handbook, 6],
      [notes, 1],
    ] as const) {
      expect(await textOf(id, page)).to.include({ code: 'NOT_FOUND', status: 404, defined: true });
    }
    for (const page of [0, -1, 1.5, 'one', 100_001]) {
      const body = await textOf(handbook, page as number);
      expect(body).to.include({ code: 'BAD_REQUEST', defined: true });
      expect(body.data.issues[0].path).to.deep.equal(['page']);
    }
    const { id } = await api.upload(tenant, { bytes: 'Not extracted.' });
    expect(await textOf(id, 1)).to.deep.equal({ documentId: id, text: null, truncated: false, extracted: null });
  });

  it('tell the headings of Markdown and HTML', async () => {
    const timetable = await index('ferry-timetable.html', 'text/html');
    for (const [id, query, document] of [
      [notes, 'counting varroa mites under a hive', sample('beekeeping-notes.md').toString()],
      [timetable, 'bicycle ticket price on the ferry', sample('ferry-timetable.html').toString()],
    ] as const) {
      const [best] = await search({ query, filter: { documentIds: [id] }, include: ['citation'] });
      expect(best.citation.headings.length).to.be.greaterThan(0);
      for (const heading of best.citation.headings) expect(document).to.include(heading);
      expect(best.citation).to.deep.include({ page: null, lastPage: null });
    }
  });

  it('name the file within a PDF, which stands behind its pages and on none of them', async () => {
    const page = 'The offer is in the file that belongs to this letter. '.repeat(30).trim();
    const pdf = new PDFDocument();
    pdf.text(page).file(Buffer.from('Forty tons of gravel.'), { name: 'offer.txt' });
    pdf.end();
    const { id } = await api.upload(tenant, { contentType: 'application/pdf', bytes: Buffer.concat(await pdf.toArray()) });
    await run('document.index', id);
    expect((await textOf(id)).text).to.match(/offer\.txt\n\nForty tons of gravel\.$/);
    expect((await textOf(id, 1)).text.replace(/\s+/g, ' ')).to.equal(page);
    const [best] = await search({ query: 'gravel', mode: 'lexical', filter: { documentIds: [id] }, include: ['citation'] });
    expect(best.citation).to.deep.include({ page: null, lastPage: null, headings: ['offer.txt'] });
  });

  it('have no position in a text that was extracted since', async () => {
    const id = await index('beekeeping-notes.md', 'text/markdown');
    const input = { query: 'mites', filter: { documentIds: [id] }, include: ['citation'], limit: 1 };
    const [known] = await search(input);
    await run('document.extract', id);
    expect((await search(input))[0].citation).to.deep.equal({ ...known.citation, start: null, end: null });
  });

  it('are asked for by name', async () => {
    const { body } = await call('documents.search', { workspaceId: tenant.workspaceId, query: 'a', include: ['citation', 'pages'] });
    expect(body).to.include({ code: 'BAD_REQUEST', defined: true });
    expect(body.data.issues[0].path).to.deep.equal(['include', 1]);
  });
});
