import { expect } from 'chai';
import { unwrapUpload } from '../../ai/formats/document.ts';
import { extraKinds as extraContentTypes } from '../../contract/content-types.ts';
import { hostileTexts, processorSeconds } from '../support/hostile-texts.ts';
import { makeEpub, makeXlsx } from './support/make-office.ts';
import { makePdfOf } from './support/make-pdf.ts';
import { read } from './support/read.ts';

describe('A hostile document of 100,000 characters', () => {
  const work: Record<string, (text: string) => unknown> = {
    'is read as HTML': (text) => read(text, 'text/html'),
    'is read as Markdown': (text) => read(text, 'text/markdown'),
    'is read as RTF': (text) => read(`{\\rtf1 ${text.replaceAll(/[\\{}]/g, ' ')}}`, 'application/rtf'),
    'is unwrapped': (text) => {
      const file = { content_type: 'text/plain', data_base64: `${text}%` };
      try {
        unwrapUpload(Buffer.from(JSON.stringify({ file })), 'application/json', 10_000_000);
      } catch {
        // None of them is base64.
      }
    },
  };
  for (const [what, run] of Object.entries(work))
    it(`${what} in time`, async () => {
      for (const { name, text } of hostileTexts()) expect(await processorSeconds(() => run(text)), name).to.be.below(1);
    });

  it('is read in time if an address in it is long, or a format', async () => {
    const book = makeEpub(['<p>Text</p>'], [], { place: `${'#'.repeat(200_000)}\n` });
    const workbook = makeXlsx(
      '<row><c><v>1</v></c></row>',
      [],
      '',
      `<numFmts><numFmt numFmtId="200" formatCode="${'['.repeat(200_000)}"/></numFmts>`,
    );
    for (const [document, type, expected] of [
      [book, extraContentTypes.epub, 'Text'],
      [workbook, extraContentTypes.xlsx, 'Prices\n\n| 1 |'],
    ] as const)
      expect(await processorSeconds(async () => expect((await read(document, type)).text).to.equal(expected)), type).to.be.below(1);
  });

  it('is read in time if very many rows of a sheet end in its last column', async () => {
    const rows = Array.from({ length: 80_000 }, (_, row) => `<row r="${row + 1}"><c r="XFD${row + 1}"><v>1</v></c></row>`);
    const workbook = makeXlsx(rows.join(''));
    expect(await processorSeconds(() => read(workbook, extraContentTypes.xlsx))).to.be.below(1.5);
  });

  it('is read in time if very many notes stand at one place of a page', async () => {
    const note = '<< /Type /Annot /Subtype /FreeText /F 4 /Contents (note) /Rect [0 0 100 100] >>';
    const pdf = makePdfOf({ content: '', page: `/Annots [${'10 0 R '.repeat(10_000)}]`, objects: [note] });
    const seconds = await processorSeconds(async () =>
      expect((await read(pdf, 'application/pdf')).text.match(/note/g)).to.have.length(10_000),
    );
    expect(seconds).to.be.below(2);
  });

  it('is read in time if very many raised parts stand in each other', async () => {
    const page = `<p>${'<i>1</i><sup>'.repeat(290)}${'a<br>'.repeat(100_000)}`;
    expect(await processorSeconds(() => read(page, 'text/html'))).to.be.below(1.5);
  });

  it('is read in time if blanks, signs above letters, signs of headings or hints for line ends have no end', async () => {
    const endless = [' ', '#', '# ', '\u0301', '\u200b', '\u0e49\u200b', '\ufdd1', '\ufdd1 \ufdd0', ' \ufdd1a', '\u00ad\u0301'];
    for (const one of endless)
      for (const type of ['text/plain', 'text/markdown']) {
        const text = `x${one.repeat(300_000)}x`;
        expect(await processorSeconds(() => read(text, type)), JSON.stringify([one, type])).to.be.below(2);
      }
  });

  it('is read as HTML in time if it is much longer, and never ends what it begins', async () => {
    for (const beginning of ['<script>', '<script', '<svg>', '<style ', '<!--']) {
      const { text } = await read(`<p>Before</p>${beginning.repeat(6_500_000 / beginning.length)}`, 'text/html');
      expect(text, beginning).to.equal('Before');
    }
  });
});
