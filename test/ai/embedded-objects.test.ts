import CFB from 'cfb';
import { expect } from 'chai';
import { extraKinds as types } from '../../contract/content-types.ts';
import { makeDocx, makePptx, makeXlsx, relationsOf, wordParagraph } from './support/make-office.ts';
import { makeTextPdf } from './support/make-pdf.ts';
import type { ZipFile } from './support/make-zip.ts';
import { read } from './support/read.ts';

const maxUploadBytes = 100_000;
const readWithin = (bytes: Uint8Array, mediaType: string) => read(bytes, mediaType, { maxUploadBytes });

/** Files that a part refers to as `o1`, `o2` and so on. */
function objectsOf(part: string, folder: string, files: Record<string, string | Buffer>): ZipFile[] {
  const targets = Object.keys(files).map((name, index): [string, [string, string]] => [`o${index + 1}`, ['package', `${folder}/${name}`]]);
  return [
    relationsOf(part, Object.fromEntries(targets)),
    ...Object.entries(files).map(([name, content]) => ({ name: `${folder}/${name}`, content })),
  ];
}
const object = (id: string, program: string) =>
  `<w:p><w:r><w:object><o:OLEObject ProgID="${program}" r:id="${id}"/></w:object></w:r></w:p>`;
const inWord = (body: string, files: Record<string, string | Buffer>) =>
  makeDocx(body, objectsOf('word/document.xml', 'word/embeddings', files));
const prices = makeXlsx('<row><c t="inlineStr"><is><t>Gravel</t></is></c><c><v>12.5</v></c></row>');

/** A compound file with these streams. */
function compound(streams: Record<string, Buffer>): Buffer {
  const file = CFB.utils.cfb_new();
  for (const [name, content] of Object.entries(streams)) CFB.utils.cfb_add(file, `/${name}`, content);
  return Buffer.from(CFB.write(file, { type: 'buffer' }));
}

/** A file as Windows packs it. */
function packed(label: string, path: string, content: Buffer): Buffer {
  const size = Buffer.alloc(4);
  size.writeUInt32LE(content.length);
  const went = `C:\\Temp\\${label}\0`;
  const wentSize = Buffer.alloc(4);
  wentSize.writeUInt32LE(went.length);
  const body = [
    Buffer.from([2, 0]),
    Buffer.from(`${label}\0${path}\0`, 'latin1'),
    Buffer.from([0, 0, 3, 0]),
    wentSize,
    Buffer.from(went, 'latin1'),
    size,
    content,
  ];
  const all = Buffer.concat(body);
  const whole = Buffer.alloc(4);
  whole.writeUInt32LE(all.length);
  return compound({ '\u0001Ole10Native': Buffer.concat([whole, all]) });
}

describe('Files within an Office document', () => {
  it('are read below their names, behind its text: workbooks, documents, PDFs and mails', async () => {
    const mail = Buffer.from('From: ann@example.com\r\nSubject: The pit\r\n\r\nThe pit is empty.\r\n');
    const files = {
      'Workbook1.xlsx': prices,
      'oleObject1.bin': packed('Größe.pdf', 'C:\\Users\\Ann\\Größe.pdf', makeTextPdf('Pay 40.')),
      'oleObject2.bin': compound({ CONTENTS: makeTextPdf('A plan of the pit.'), Other: Buffer.from('x') }),
      'oleObject3.bin': packed('a mail', 'C:\\mails\\pit.eml', mail),
      'oleObject4.bin': compound({ Package: makeDocx(wordParagraph('The lease.')) }),
    };
    const programs = ['Excel.Sheet.12', 'Package', 'Acrobat.Document.DC', 'Package', 'Word.Document.12'];
    const body = wordParagraph('See below.') + programs.map((program, index) => object(`o${index + 1}`, program)).join('');
    const { text, outline, notices } = await readWithin(inWord(body, files), types.docx);
    expect(text).to.equal(
      [
        'See below.\n\nA footnote.',
        'Workbook1.xlsx\n\nPrices\n\n| Gravel | 12.5 |',
        'Größe.pdf\n\nPay 40.',
        'oleObject2.pdf\n\nA plan of the pit.',
        'pit.eml\n\nSubject: The pit\nFrom: ann@example.com\n\nThe pit is empty.',
        'oleObject4.docx\n\nThe lease.\n\nA footnote.',
      ].join('\n\n'),
    );
    expect(outline.headings.map(({ title }) => title)).to.include.members(['Workbook1.xlsx', 'pit.eml']);
    expect(notices).to.equal(undefined);
  });

  it('are read from slides, behind the last one, and once from sheets that show one to old and new programs', async () => {
    const frame = '<p:graphicFrame><p:oleObj progId="Excel.Sheet.12" r:id="o1"/></p:graphicFrame>';
    const title = '<p:sp><p:txBody><a:p><a:r><a:t>Prices of gravel</a:t></a:r></a:p></p:txBody></p:sp>';
    const deck = makePptx([title + frame], objectsOf('ppt/slides/slide1.xml', 'ppt/embeddings', { 'Workbook1.xlsx': prices }));
    const found = await readWithin(deck, types.pptx);
    expect(found.text).to.equal('Prices of gravel\n\nWorkbook1.xlsx\n\nPrices\n\n| Gravel | 12.5 |');
    expect(found.outline.page_starts).to.deep.equal([0]);
    const one = '<oleObject progId="Word.Document.12" r:id="o1"/>';
    const choice = `<mc:AlternateContent><mc:Choice>${one}</mc:Choice><mc:Fallback>${one}</mc:Fallback></mc:AlternateContent>`;
    const sheet = makeXlsx(
      `<row><c><v>5</v></c></row></sheetData><oleObjects>${choice}</oleObjects><sheetData>`,
      [],
      '',
      '',
      objectsOf('xl/worksheets/sheet1.xml', 'xl/embeddings', { 'Document1.docx': makeDocx(wordParagraph('The lease.')) }),
    );
    expect((await readWithin(sheet, types.xlsx)).text).to.equal('Prices\n\n| 5 |\n\nDocument1.docx\n\nThe lease.\n\nA footnote.');
  });

  it('are told where they are not read: of other kinds, of older programs, damaged, too large, nested too deeply', async () => {
    const files = {
      'oleObject1.bin': packed('all.zip', 'C:\\all.zip', Buffer.from('PK')),
      'oleObject2.bin': compound({ WordDocument: Buffer.from('old') }),
      'oleObject3.bin': Buffer.from('\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1 damaged', 'latin1'),
      'Workbook1.xlsx': Buffer.concat([prices, Buffer.alloc(maxUploadBytes)]),
      'oleObject4.bin': packed('cut.txt', 'C:\\cut.txt', Buffer.from('x')).fill(0xff, 512),
    };
    const programs = ['Package', 'Word.Document.8', 'Equation.3', 'Excel.Sheet.12', 'Package'];
    const body = programs.map((program, index) => object(`o${index + 1}`, program)).join('');
    const { text, notices } = await readWithin(inWord(wordParagraph('See.') + body, files), types.docx);
    expect(text).to.equal('See.\n\nA footnote.');
    const names = [
      'the file all.zip',
      ...['Word.Document.8', 'Equation.3', 'Excel.Sheet.12', 'Package'].map((one) => `an embedded object (${one})`),
    ];
    expect(notices).to.deep.equal([{ code: 'part_not_read', text: `Not read: ${names.join(', ')}.` }]);
    let deep = makeDocx(wordParagraph('The innermost.'));
    for (let depth = 1; depth <= 4; depth += 1)
      deep = inWord(wordParagraph(`Depth ${depth}.`) + object('o1', 'Word.Document.12'), { 'a.docx': deep });
    const nested = await readWithin(deep, types.docx);
    expect(nested.text).to.contain('Depth 1.').and.not.contain('The innermost.');
    expect(nested.notices).to.deep.equal([{ code: 'part_not_read', text: 'a.docx: a.docx: a.docx: Not read: the file a.docx.' }]);
  });

  it('have as many bytes together as one document, however small they are packed', async () => {
    const long = packed('long.txt', 'C:\\long.txt', Buffer.alloc(60_000, 'word '));
    const inner = inWord(wordParagraph('Inner.') + object('o1', 'Package'), { 'oleObject1.bin': long });
    const outer = inWord(object('o1', 'Word.Document.12') + object('o2', 'Word.Document.12'), { 'a.docx': inner, 'b.docx': inner });
    const { text, notices } = await readWithin(outer, types.docx);
    expect(text.match(/long\.txt|Inner\./g)).to.deep.equal(['Inner.', 'long.txt', 'Inner.']);
    expect(notices).to.deep.equal([{ code: 'part_not_read', text: 'b.docx: Not read: the file long.txt.' }]);
  });

  it('are also those of documents that are put into it, but not the data of its charts', async () => {
    const inner = inWord(wordParagraph('From Word.') + object('o1', 'Excel.Sheet.12'), { 'Workbook1.xlsx': prices });
    const chunk = relationsOf('word/document.xml', { c1: ['aFChunk', 'word/a.docx'], c2: ['chart', 'word/charts/chart1.xml'] });
    const chart = [
      {
        name: 'word/charts/chart1.xml',
        content: '<c:chartSpace><c:title><a:p><a:r><a:t>Harvest</a:t></a:r></a:p></c:title></c:chartSpace>',
      },
      ...objectsOf('word/charts/chart1.xml', 'word/embeddings', { 'Workbook2.xlsx': prices }),
    ];
    const body = `<w:altChunk r:id="c1"/><w:p><w:r><w:drawing><c:chart r:id="c2"/></w:drawing></w:r></w:p>`;
    const { text, notices } = await readWithin(makeDocx(body, [chunk, { name: 'word/a.docx', content: inner }, ...chart]), types.docx);
    expect(text).to.equal('From Word.\n\nA footnote.\n\nHarvest\n\nA footnote.\n\nWorkbook1.xlsx\n\nPrices\n\n| Gravel | 12.5 |');
    expect(notices).to.equal(undefined);
  });
});
