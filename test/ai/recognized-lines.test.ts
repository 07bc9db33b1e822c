import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import sharp from 'sharp';
import { renderPdfPage } from '../../ai/formats/pdf/read-pdf.ts';
import { placeLines } from '../../ai/formats/place-lines.ts';
import { type AiService, startAiService } from './support/ai-service.ts';
import { makeScannedPdf } from './support/scan.ts';

const notice = readFileSync('docs/examples/samples/trail-notice.png');

describe('The lines that text recognition has read', () => {
  let service: AiService;
  before(async () => {
    service = await startAiService({ OCR_PROVIDER: 'local', OCR_SCANNED_PDF: 'true' });
  });
  after(() => service.stop());

  /** What recognition reads in the box of the line that has some words, in a picture of the page. */
  async function readIn(picture: Buffer, body: Buffer, contentType: string, words: RegExp): Promise<string> {
    const { text, outline } = await service.client.extract({ body, contentType });
    const said = outline.lines?.find(([start, end]) => words.test(text.slice(start, end)));
    expect(said, JSON.stringify(outline.lines)).to.not.equal(undefined);
    const [, , ...box] = said as [number, number, number, number, number, number];
    const { width = 0, height = 0 } = await sharp(picture).metadata();
    const [x, y, wide, high] = box.map((share, index) => Math.round((share / 10_000) * (index % 2 === 0 ? width : height)));
    const part = sharp(picture).extract({ left: x as number, top: y as number, width: wide as number, height: high as number });
    const framed = await part
      .flatten({ background: 'white' })
      .extend({ ...margins, background: 'white' })
      .png()
      .toBuffer();
    return (await service.client.extract({ body: framed, contentType: 'image/png' })).text;
  }
  const margins = { top: 40, bottom: 40, left: 40, right: 40 };

  it('stand where their boxes say, in a picture that lies as it should or not', async () => {
    for (const degrees of [0, 90, 180]) {
      const turned = await sharp(notice).rotate(degrees).png().toBuffer();
      const read = await readIn(turned, turned, 'image/png', /suspension bridge/);
      expect(read, `${degrees}°`)
        .to.match(/suspension bridge/)
        .and.not.match(/NOTICE|14 September/);
    }
  });

  it('stand on their page of a PDF', async () => {
    const body = await makeScannedPdf([
      { text: 'A typed cover sheet.' },
      { scan: ['The lease ends in March.', '', '', 'The rent is due.'] },
    ]);
    const page = Buffer.from(await renderPdfPage(body, 1, false));
    expect(await readIn(page, body, 'application/pdf', /rent/)).to.equal('The rent is due.');
  });

  it('are found in a text that is laid out: in columns, in rows, with a word that was parted', () => {
    const box = (top: number) => [0, top, 10, 10] as [number, number, number, number];
    const page = '😀 Prices of lamps\n| Lamp | 2 | 12 |\n| Cord | 12 | 2 |\nAll is guaranteed for two years.';
    const lines = ['12', 'All is guaran', 'teed for two years.', 'Cord', '2', 'Lamp 2', 'Prices of lamps', 'torn and apart', '12'];
    const placed = placeLines(
      page,
      100,
      lines.map((text, top) => ({ text, box: box(top) })),
    );
    const characters = [...page];
    const texts = placed.map(([start, end, , top]) => [characters.slice(start - 100, end - 100).join(''), lines[top]]);
    expect(texts).to.deep.equal([
      ['Prices of lamps', 'Prices of lamps'],
      ['Lamp | 2', 'Lamp 2'],
      ['12', '12'],
      ['Cord', 'Cord'],
      ['12', '12'],
      ['2', '2'],
      ['All is', 'All is guaran'],
      ['for two years', 'teed for two years.'],
    ]);
  });
});
