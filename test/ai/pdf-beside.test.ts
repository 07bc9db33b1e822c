import { expect } from 'chai';
import PDFDocument from 'pdfkit';
import { extractText } from '../../ai/extract/extract-text.ts';
import { makePdfOf, stream } from './support/make-pdf.ts';

const limits = { maxUploadBytes: 10_000_000, maxTextCharacters: 200_000, maxPdfPages: 500 };
const read = (bytes: Buffer) => extractText({ bytes, mediaType: 'application/pdf', charset: undefined }, limits);

async function finish(document: InstanceType<typeof PDFDocument>): Promise<Buffer> {
  document.end();
  return Buffer.concat(await document.toArray());
}

describe('What a PDF has beside its pages', () => {
  it('is named if it is files: a portfolio, an invoice with its data, a file pinned to a page', async () => {
    const document = new PDFDocument();
    document.text('For the best experience, open this portfolio in another viewer.');
    document.file(Buffer.from('PK'), { name: 'offer.docx' });
    document.file(Buffer.from('a;b'), { name: 'prices 2026.csv' });
    Reflect.apply(Reflect.get(document, 'fileAnnotation'), document, [100, 100, 20, 20, { src: Buffer.from('x'), name: 'plan.txt' }]);
    const { text, notices } = await read(await finish(document));
    expect(text).to.match(/^For the best experience/);
    expect(notices).to.deep.equal([
      { code: 'embedded_files_not_read', text: 'The PDF holds 3 files not read: offer.docx, prices 2026.csv, plan.txt' },
    ]);
  });

  it('is told if it is a form of XML, for which a page stands in', async () => {
    const pdf = makePdfOf({
      content: 'BT /F1 12 Tf 50 700 Td (Please wait... If this message is not replaced, your viewer cannot show this.) Tj ET',
      catalog: '/NeedsRendering true /AcroForm << /Fields [] /XFA [(template) 10 0 R] >>',
      objects: [stream('', '<template xmlns="http://www.xfa.org/schema/xfa-template/3.3/"><subform name="form"/></template>')],
    });
    const { text, notices } = await read(pdf);
    expect(text).to.match(/^Please wait/);
    expect(notices).to.deep.equal([
      { code: 'xfa_form_not_read', text: 'The PDF is an XFA form, which is not read: only the page that stands in for it was.' },
    ]);
  });
});

describe('A PDF that is encrypted by AES-256', () => {
  const encrypt = (draw: (document: InstanceType<typeof PDFDocument>) => void) => {
    const document = new PDFDocument({ ownerPassword: 'owner', pdfVersion: '1.7ext3', size: [600, 800] });
    draw(document);
    return finish(document);
  };
  const refusal = (bytes: Buffer) =>
    read(bytes).then(
      ({ text }) => [text],
      ({ status, code }) => [status, code],
    );

  it('is read if it opens without a password, also if a field is all that it shows', async () => {
    expect((await read(await encrypt((document) => document.text('sealed text')))).text).to.equal('sealed text');
    const field = await encrypt((document) => {
      document.font('Helvetica').initForm();
      document.formText('handler', 50, 50, 200, 20, { value: 'Security handler' });
    });
    expect((await read(field)).text).to.equal('Security handler');
  });

  it('is refused if its handler is not known, or if nothing comes out', async () => {
    const sealed = await encrypt((document) => document.text('sealed text'));
    for (const [known, own] of [
      ['/Filter /Standard', '/Filter /OwnOwnOw'],
      ['/CFM /AESV3', '/CFM /OwnV3'],
      ['/StmF /StdCF', '/StmF /OwnCF'],
    ] as const) {
      const changed = Buffer.from(sealed.toString('latin1').replace(known, own), 'latin1');
      expect(changed.equals(sealed), own).to.equal(false);
      expect(await refusal(changed), own).to.deep.equal([422, 'encrypted_document']);
    }
    expect(await refusal(await encrypt(() => undefined))).to.deep.equal([422, 'encrypted_document']);
  });
});
