import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { makePdfOf, makeUnmappedPdf, stream } from './support/make-pdf.ts';
import { read } from './support/read.ts';

const readPdf = (bytes: Buffer) => read(bytes, 'application/pdf');
const withoutMap = readFileSync(new URL('./pdfs/no_tounicode.pdf', import.meta.url));

describe('A PDF whose fonts do not say which letters they show', () => {
  const refusal = async (bytes: Buffer) =>
    await readPdf(bytes).then(
      ({ text }) => text,
      ({ status, code, message }) => [status, code, message],
    );

  it('is refused, and it is said what reads it', async () => {
    const reason = 'The fonts of the PDF do not say which letters they show, so it has no text that could be read.';
    const refused = [422, 'unreadable_document', `${reason} With OCR_SCANNED_PDF text recognition reads it.`];
    expect(await refusal(withoutMap)).to.deep.equal(refused);
    expect(await refusal(makeUnmappedPdf('', ['The lease ends in March.']))).to.deep.equal(refused);
  });

  it('has the text that is known, and says that some is not', async () => {
    const { text, notices } = await readPdf(
      makeUnmappedPdf('BT /F1 12 Tf 50 740 Td (Lease of a boathouse) Tj ET', ['The lease ends in March.']),
    );
    expect(text).to.equal('Lease of a boathouse');
    expect(notices).to.deep.equal([
      {
        code: 'unmapped_text_left_out',
        text: 'Page 1 has text whose fonts do not say which letters they show: it was left out. With OCR_SCANNED_PDF text recognition reads such pages.',
      },
    ]);
  });

  it('is read if the codes of the letters are those of the characters', async () => {
    const words = ['Ideology', 'as', 'ritual,', 'Monday', '5', 'December'];
    const codes = [...new Set(words.join(''))].map((letter) => letter.charCodeAt(0));
    const glyph = stream('', '600 0 0 0 500 700 d1 0 0 500 700 re f');
    const font = `<< /Type /Font /Subtype /Type3 /FontBBox [0 0 500 700] /FontMatrix [0.001 0 0 0.001 0 0] /FirstChar 0 /LastChar 255
/Widths [${Array(256).fill(600).join(' ')}] /CharProcs << ${codes.map((code) => `/g${code} 11 0 R`).join(' ')} >>
/Encoding << /Type /Encoding /Differences [${codes.map((code) => `${code} /g${code}`).join(' ')}] >> >>`;
    const drawn = words.map((word, index) => `BT /F2 12 Tf ${50 + 70 * index} 700 Td (${word}) Tj ET`).join(' ');
    const pdf = makePdfOf({ content: drawn, fonts: '/F2 10 0 R', objects: [font, glyph] });
    const { text, notices } = await readPdf(pdf);
    expect({ text, notices }).to.deep.equal({ text: words.join(' '), notices: undefined });
  });
});
