import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { extractText } from '../../ai/formats/extract-text.ts';
import { type AiService, startAiService } from './support/ai-service.ts';
import { makePdfOf, stream } from './support/make-pdf.ts';

const limits = { maxUploadBytes: 10_000_000, maxTextCharacters: 200_000, maxPdfPages: 500 };
const read = (bytes: Buffer) => extractText({ bytes, mediaType: 'application/pdf', charset: undefined }, limits);
const withoutMap = readFileSync(new URL('./pdfs/no_tounicode.pdf', import.meta.url));

/** A font whose letters are drawn, but are said to be signs of private use, which mean nothing. */
const privateFont = [
  '<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding /ToUnicode 11 0 R >>',
  stream(
    '',
    `/CIDInit /ProcSet findresource begin 12 dict begin begincmap /CMapName /P def /CMapType 2 def
1 begincodespacerange <00> <ff> endcodespacerange 1 beginbfrange <20> <ff> <e020> endbfrange endcmap end end`,
  ),
];
const page = (content: string) => makePdfOf({ content, objects: privateFont, fonts: '/F2 10 0 R' });
const unknown = 'BT /F2 14 Tf 50 700 Td (The lease ends in March,) Tj 0 -20 Td (unless both sides agree.) Tj ET';

describe('A PDF whose fonts do not say which letters they show', () => {
  describe('without text recognition', () => {
    const refusal = async (bytes: Buffer) =>
      await read(bytes).then(
        ({ text }) => text,
        ({ status, code, message }) => [status, code, message],
      );

    it('is refused, and it is said what reads it', async () => {
      const reason = 'The fonts of the PDF do not say which letters they show, so it has no text that could be read.';
      const refused = [422, 'unreadable_document', `${reason} With OCR_SCANNED_PDF text recognition reads it.`];
      expect(await refusal(withoutMap)).to.deep.equal(refused);
      expect(await refusal(page(unknown))).to.deep.equal(refused);
    });

    it('has the text that is known, and says that some is not', async () => {
      const { text, notices } = await read(page(`BT /F1 12 Tf 50 740 Td (Lease of a boathouse) Tj ET ${unknown}`));
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
      const { text, notices } = await read(pdf);
      expect({ text, notices }).to.deep.equal({ text: words.join(' '), notices: undefined });
    });
  });

  describe('with text recognition', () => {
    let service: AiService;
    before(async () => {
      service = await startAiService({ OCR_PROVIDER: 'local', OCR_SCANNED_PDF: 'true' });
    });
    after(() => service.stop());
    const recognize = (body: Buffer) => service.client.extract({ body, contentType: 'application/pdf' });

    it('is recognized', async () => {
      const { text, ocrPages, notices } = await recognize(withoutMap);
      expect(text).to.contain('The lease begins in April and ends with').and.not.contain('HDVH');
      expect({ ocrPages, notices }).to.deep.equal({ ocrPages: 1, notices: undefined });
    });

    it('is recognized beside text that is known', async () => {
      const { text, ocrPages, notices } = await recognize(page(`BT /F1 12 Tf 50 740 Td (Lease of a boathouse) Tj ET ${unknown}`));
      expect(text).to.match(/^Lease of a boathouse\s+The lease ends in March,\nunless both sides agree\.$/);
      expect({ ocrPages, notices }).to.deep.equal({ ocrPages: 1, notices: undefined });
    });
  });
});
