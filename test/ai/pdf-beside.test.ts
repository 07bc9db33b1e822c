import { expect } from 'chai';
import iconv from 'iconv-lite';
import PDFDocument from 'pdfkit';
import { makeDocx, wordParagraph } from './support/make-office.ts';
import { makePdfOf, stream } from './support/make-pdf.ts';
import { read, refusal } from './support/read.ts';

const pdf = 'application/pdf';
/** Without the kinds that a deployment has to turn on. */
const readPdf = (bytes: Buffer, bounds = {}) => read(bytes, pdf, { extraContentTypes: [], ...bounds });

async function finish(document: InstanceType<typeof PDFDocument>): Promise<Buffer> {
  document.end();
  return Buffer.concat(await document.toArray());
}

const file = (document: InstanceType<typeof PDFDocument>, name: string, content: string | Buffer) =>
  document.file(Buffer.from(content), { name });
const portfolio = 'For the best experience, open this portfolio in another viewer.';

describe('The files that a PDF holds', () => {
  it('are read behind its pages, below their names, where their kind is taken; the others are named', async () => {
    const document = new PDFDocument();
    document.text(portfolio);
    file(document, 'offer.docx', makeDocx(wordParagraph('We offer gravel.')));
    file(document, 'prices 2026.csv', 'gravel;12.50');
    file(document, 'site.md', '# The site\n\n## Roads\n\nOne road.');
    file(document, 'invoice.xml', '<Invoice/>');
    Reflect.apply(Reflect.get(document, 'fileAnnotation'), document, [100, 100, 20, 20, { src: Buffer.from('A plan.'), name: 'plan.txt' }]);
    const bytes = await finish(document);
    const { text, pages, outline, notices } = await readPdf(bytes);
    const attached = ['plan.txt\n\nA plan.', 'prices 2026.csv\n\ngravel;12.50', 'site.md\n\n# The site\n\n## Roads\n\nOne road.'];
    expect(text).to.equal([portfolio, ...attached].join('\n\n'));
    expect(pages).to.equal(1);
    expect(outline).to.deep.include({ page_starts: [0], pages_end: text.indexOf('plan.txt') });
    expect(outline.headings.map(({ level, title }) => [level, title])).to.deep.equal([
      [1, 'plan.txt'],
      [1, 'prices 2026.csv'],
      [1, 'site.md'],
      [2, 'The site'],
      [3, 'Roads'],
    ]);
    expect(notices).to.deep.equal([{ code: 'embedded_files_not_read', text: 'The PDF holds 2 files not read: invoice.xml, offer.docx' }]);
    const taken = await read(bytes, pdf);
    expect(taken.text).to.contain('offer.docx\n\nWe offer gravel.');
    expect(taken.notices?.map(({ text }) => text)).to.deep.equal(['The PDF holds a file not read: invoice.xml']);
  });

  it('say what was left out of them, and are named if they are damaged, of another kind, or pictures', async () => {
    const document = new PDFDocument();
    document.text(portfolio);
    file(document, 'old.txt', iconv.encode('Die Übergabe der Schlüssel erfolgt am Montag in der Küche.', 'windows-1252'));
    file(document, 'cut.pdf', '%PDF-1.7\n');
    file(document, 'picture.csv', Buffer.from('\x89PNG\r\n\x1a\n', 'latin1'));
    file(document, 'empty.txt', '');
    const { text, notices = [] } = await readPdf(await finish(document));
    expect(text).to.match(/old\.txt\n\nDie Übergabe der Schlüssel erfolgt am Montag in der Küche\.$/);
    expect(notices.map(({ code }) => code)).to.deep.equal(['charset_guessed', 'embedded_files_not_read']);
    expect(notices[0]?.text).to.match(/^old\.txt: The text names no charset/);
    expect(notices[1]?.text).to.match(/ 3 files not read: cut\.pdf, empty\.txt, picture\.csv$/);
  });

  it('are read up to three deep, fifty in all, and as many characters and bytes as a document has', async () => {
    const holding = async (name: string, content: string | Buffer) => {
      const document = new PDFDocument();
      file(document, name, content);
      document.text(`It holds ${name}.`);
      return finish(document);
    };
    const third = await holding('3.pdf', await holding('4.txt', 'the innermost'));
    const nested = await readPdf(await holding('1.pdf', await holding('2.pdf', third)));
    expect(nested.text).to.contain('It holds 4.txt.').and.not.contain('the innermost');
    expect(nested.notices?.map(({ text }) => text)).to.deep.equal(['1.pdf: 2.pdf: 3.pdf: The PDF holds a file not read: 4.txt']);

    const many = new PDFDocument();
    for (let index = 100; index < 160; index += 1) file(many, `${index}.txt`, `Text ${index}.`);
    const some = await readPdf(await finish(many));
    expect(some.text.match(/^Text \d+\.$/gm)).to.have.length(50);
    expect(some.notices?.[0]?.text).to.match(/^The PDF holds 10 files not read/);

    const large = new PDFDocument();
    file(large, 'a.txt', 'a'.repeat(600));
    file(large, 'b.txt', 'b'.repeat(600));
    file(large, 'c.txt', 'c');
    const bytes = await finish(large);
    const bounded = await readPdf(bytes, { maxUploadBytes: 1_000 });
    expect(bounded.notices?.[0]?.text).to.equal('The PDF holds a file not read: b.txt');
    const cut = await readPdf(bytes, { maxTextCharacters: 500 });
    expect(cut).to.include({ truncated: true, characters: 500 });
    expect(cut.notices?.map(({ text }) => text)).to.deep.equal([
      'The text was cut after 500 characters: MAX_TEXT_CHARACTERS.',
      'The PDF holds 2 files not read: b.txt, c.txt',
    ]);
  });
});

describe('A form of XML', () => {
  const placeholder = 'BT /F1 12 Tf 50 700 Td (Please wait... If this message is not replaced, your viewer cannot show this.) Tj ET';
  const template = '<template xmlns="http://www.xfa.org/schema/xfa-template/3.3/"><subform name="form"/></template>';
  const datasets = `<xfa:datasets xmlns:xfa="http://www.xfa.org/schema/xfa-data/1.0/">
      <xfa:data><form1><Applicant><Name>Ada &amp; Co</Name><Born>1815-12-10</Born></Applicant><Seats>2</Seats><Empty/>
      <Remark xfa:contentType="text/html"><body xmlns="http://www.w3.org/1999/xhtml"><p>Near the</p><p>window</p></body></Remark>
      </form1></xfa:data><dd:dataDescription xmlns:dd="http://ns.adobe.com/data-description/" dd:name="form1"><form1>no</form1></dd:dataDescription>
    </xfa:datasets>`;
  const formOf = (xfa: string, ...packets: string[]) => saying('/NeedsRendering true', xfa, ...packets);
  const saying = (needs: string, xfa: string, ...packets: string[]) =>
    makePdfOf({
      content: placeholder,
      catalog: `${needs} /AcroForm << /Fields [] /XFA ${xfa} >>`,
      objects: packets.map((packet) => stream('', packet)),
    });
  const values = 'Applicant.Name: Ada & Co\nApplicant.Born: 1815-12-10\nSeats: 2\nRemark: Near the window';

  it('is read by the values of its fields, with their names, and says so', async () => {
    const whole = `<xdp:xdp xmlns:xdp="http://ns.adobe.com/xdp/">${template}${datasets}</xdp:xdp>`;
    for (const pdf of [formOf('[(template) 10 0 R (datasets) 11 0 R]', template, datasets), formOf('10 0 R', whole)]) {
      const { text, notices } = await readPdf(pdf);
      expect(text)
        .to.match(/^Please wait.*\n\n/)
        .and.satisfy((all: string) => all.endsWith(`\n\n${values}`));
      expect(notices?.map(({ code }) => code)).to.deep.equal(['xfa_form_not_read']);
      expect(notices?.[0]?.text).to.contain('its values were read');
    }
  });

  it('is told of a page that stands in for it, though the form does not say that it has to be rendered', async () => {
    const { notices } = await readPdf(saying('', '[(template) 10 0 R]', template));
    expect(notices?.map(({ code }) => code)).to.deep.equal(['xfa_form_not_read']);
  });

  it('is told if nothing was entered, or its data are damaged', async () => {
    const entity = '<!DOCTYPE x [<!ENTITY a "b">]><datasets><data><f><a>b</a></f></data></datasets>';
    for (const pdf of [formOf('[(template) 10 0 R]', template), formOf('[(datasets) 10 0 R]', entity), formOf('[(datasets) 10 0 R]', '')]) {
      const { text, notices } = await readPdf(pdf);
      expect(text).to.match(/^Please wait[^\n]*$/);
      expect(notices).to.deep.equal([
        { code: 'xfa_form_not_read', text: 'The PDF is an XFA form, which is not read: only the page that stands in for it was.' },
      ]);
    }
  });
});

describe('A PDF that is encrypted by AES-256', () => {
  const encrypt = (draw: (document: InstanceType<typeof PDFDocument>) => void) => {
    const document = new PDFDocument({ ownerPassword: 'owner', pdfVersion: '1.7ext3', size: [600, 800] });
    draw(document);
    return finish(document);
  };
  it('is read if it opens without a password, also if a field is all that it shows', async () => {
    expect((await readPdf(await encrypt((document) => document.text('sealed text')))).text).to.equal('sealed text');
    const field = await encrypt((document) => {
      document.font('Helvetica').initForm();
      document.formText('handler', 50, 50, 200, 20, { value: 'Security handler' });
    });
    expect((await readPdf(field)).text).to.equal('Security handler');
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
      expect(await refusal(changed, pdf), own).to.deep.equal([422, 'encrypted_document']);
    }
    expect(await refusal(await encrypt(() => undefined), pdf)).to.deep.equal([422, 'encrypted_document']);
  });
});
