import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import PDFDocument from 'pdfkit';
import { makePdf, makeTextPdf } from './support/make-pdf.ts';
import { read, refusal } from './support/read.ts';

describe('PDF documents', () => {
  const handbook = readFileSync('docs/examples/samples/observatory-handbook.pdf');
  const bounds = { maxTextCharacters: 8_000, maxPdfPages: 12 };
  const readPdf = (bytes: Buffer) => read(bytes, 'application/pdf', bounds);
  const refused = (bytes: Buffer) => refusal(bytes, 'application/pdf', bounds);

  it('reads headings, paragraphs, lists and tables in reading order', async () => {
    const { text, pages, truncated, content_type, characters } = await readPdf(handbook);
    expect({ pages, truncated, content_type }).to.deep.equal({ pages: 5, truncated: false, content_type: 'application/pdf' });
    expect(characters).to.equal(text.length);
    expect(text).to.match(
      /\n\n1\.1 Getting there\n\nThe supply truck leaves the railway halt at Tarn Bridge every Tuesday and Friday at 13:30\./,
    );
    expect(text).to.contain('| Lantern | 1.6 m | Echelle spectrograph | -110 C | six weeks ahead |');
    expect(text.indexOf('1. Welcome')).to.be.below(text.indexOf('5. Costs'));
  });

  it('answers an empty text for pages without a text layer', async () => {
    const { text, characters, pages } = await readPdf(makePdf('0 0 m 100 100 l S', 3));
    expect({ text, characters, pages }).to.deep.equal({ text: '', characters: 0, pages: 3 });
  });

  it('refuses more pages than MAX_PDF_PAGES', async () => {
    expect((await readPdf(makeTextPdf('page', 12))).pages).to.equal(12);
    expect(await refused(makeTextPdf('page', 13))).to.deep.equal([413, 'too_many_pages']);
  });

  it('refuses a PDF that needs a password and reads one that only restricts its use', async () => {
    expect(await refused(await encrypted({ userPassword: 'open sesame' }))).to.deep.equal([422, 'encrypted_document']);
    expect((await readPdf(await encrypted({ ownerPassword: 'owner' }))).text).to.equal('sealed text');
  });

  it('refuses what is no PDF, is cut off, or has no pages', async () => {
    expect(await refused(Buffer.from('not a pdf'))).to.deep.equal([422, 'unreadable_document']);
    expect(await refused(Buffer.from('%PDF-1.7\n%%EOF'))).to.deep.equal([422, 'unreadable_document']);
    expect(await refused(handbook.subarray(0, 600))).to.deep.equal([422, 'unreadable_document']);
    expect(await refused(makePdf(' ', 0))).to.deep.equal([422, 'empty_document']);
    expect(await refused(Buffer.alloc(0))).to.deep.equal([422, 'empty_document']);
  });

  it('reads what can be read of a damaged one', async () => {
    const damaged = Buffer.from(handbook);
    damaged.fill(0x20, damaged.lastIndexOf('xref'));
    const { text } = await readPdf(damaged);
    expect(text).to.contain('Korvid Ridge');
  });
});

async function encrypted(options: { userPassword?: string; ownerPassword?: string }): Promise<Buffer> {
  const document = new PDFDocument({ ...options, pdfVersion: '1.7' });
  document.text('sealed text').end();
  return Buffer.concat(await document.toArray());
}
