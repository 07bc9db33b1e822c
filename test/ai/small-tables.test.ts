import { expect } from 'chai';
import sharp from 'sharp';
import type { Engine, LayoutMode, Word } from '../../ai/ocr/engine.ts';
import { findBlobs } from '../../ai/ocr/image/blobs.ts';
import { type Grey, toGrey } from '../../ai/ocr/image/grey.ts';
import { preparePage } from '../../ai/ocr/prepare-page.ts';
import { readPage } from '../../ai/ocr/read-page.ts';
import { type AiService, startAiService } from './support/ai-service.ts';
import { ocrEngines } from './support/ocr-engines.ts';

const stock = [
  ['Item', 'Shelf', 'Left', 'Price'],
  ['Rope', '4', '12', '310'],
  ['Paint', '7', '8', '45'],
  ['Lamp', '2', '96', '128'],
];
const marks = [
  ['4', '7', '2', '8'],
  ['9', '3', '6', '4'],
  ['5', '2', '8', '7'],
  ['3', '6', '9', '5'],
];

/** A small table with rules, that thick in points, as a scanner sees it: in 10 points at 150 dots per inch, turned by some degrees. */
async function scanTable(rows: string[][], { turned = 0, rule = 0.75 } = {}): Promise<Buffer> {
  const point = 150 / 72;
  const [size, wide, high, margin] = [10 * point, 48 * point, 17 * point, 14 * point];
  const [columns, lines] = [rows[0]?.length ?? 0, rows.length];
  const rules = [
    ...Array.from({ length: lines + 1 }, (_, n) => `M${margin} ${margin + n * high}h${columns * wide}`),
    ...Array.from({ length: columns + 1 }, (_, n) => `M${margin + n * wide} ${margin}v${lines * high}`),
  ];
  const cells = rows.flatMap((row, line) =>
    row.map((cell, n) => `<text x="${margin + n * wide + 0.5 * size}" y="${margin + (line + 0.5) * high + 0.36 * size}">${cell}</text>`),
  );
  const [width, height] = [columns * wide + 2 * margin, lines * high + 2 * margin].map(Math.round);
  const svg = `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}"><rect width="100%" height="100%" fill="#f6f5f0"/>
<path d="${rules.join('')}" fill="none" stroke="#333" stroke-width="${rule * point}"/>
<g font-family="DejaVu Sans" font-size="${size}" fill="#222">${cells.join('')}</g></svg>`;
  const straight = await sharp(Buffer.from(svg)).blur(0.6).removeAlpha().png().toBuffer();
  return await sharp(straight).rotate(turned, { background: '#f6f5f0' }).jpeg({ quality: 75 }).toBuffer();
}

const greyTable = async (...table: Parameters<typeof scanTable>) => await toGrey(sharp(await scanTable(...table)).greyscale());
const none: Engine = { recognize: async () => [] };

/** What an engine reads that takes all of the upper part of a picture for one word, so surely. */
function upperPart({ width, height }: Grey, share: number, confidence: number): Word {
  return { text: '4728936', confidence, block: 1, line: 0, left: 0, top: 0, right: width, bottom: height * share };
}

describe('A small table with rules', () => {
  for (const turned of [0, 3, -5])
    for (const rule of [0.5, 2.5])
      it(`has all its letters, and nothing else, turned by ${turned} degrees, with rules of ${rule} points`, async () => {
        const prepared = await preparePage(await greyTable(marks, { turned, rule }), none);
        expect(prepared?.letters).to.have.length(16);
        expect(findBlobs(prepared?.picture as Grey, 150)).to.have.length(16);
      });

  it('leaves the points of underlined amounts where they are', async () => {
    const point = 200 / 72;
    const lines = [0, 1, 2, 3, 4].map((line) => {
      const y = (40 + 24 * line) * point;
      return `<text x="${30 * point}" y="${y}">1,234.50</text><rect x="${28 * point}" y="${y + 2 * point}" width="${60 * point}" height="2"/>`;
    });
    const svg = `<svg xmlns="http://www.w3.org/2000/svg" width="500" height="480"><rect width="100%" height="100%" fill="#fff"/>
<g font-family="DejaVu Sans" font-size="${11 * point}" fill="#222">${lines.join('')}</g></svg>`;
    const prepared = await preparePage(await toGrey(sharp(Buffer.from(svg)).greyscale()), none);
    expect(findBlobs(prepared?.picture as Grey, 150)).to.have.length(5 * 8);
  });

  it('has less confidence if a row of its single letters is lost', async () => {
    const reads = (rows: string[][], share: number) =>
      greyTable(rows).then((page) =>
        readPage(page, { recognize: async (picture) => [upperPart(picture, share, 96)] }, Number.POSITIVE_INFINITY),
      );
    expect((await reads(marks, 1)).confidence).to.equal(96);
    expect((await reads(marks, 0.7)).confidence).to.be.within(60, 80);
    const least = marks.slice(1).map((row) => row.slice(1));
    expect((await reads(least, 0.65)).confidence).to.be.within(55, 70);
  });

  it('is read in another way if the first one yields signs that are left out', async () => {
    const words = (picture: Grey): Record<LayoutMode, Word[]> => {
      const unsure = { ...upperPart(picture, 1, 10), text: 'ae', line: 1 };
      return { auto: [upperPart(picture, 0.7, 96), unsure], block: [{ ...upperPart(picture, 1, 96), text: '4728936452873695' }] };
    };
    const engine: Engine = { recognize: async (picture, mode) => words(picture)[mode] };
    const { text, confidence } = await readPage(await greyTable(marks), engine, Number.POSITIVE_INFINITY);
    expect({ text, confidence }).to.deep.equal({ text: '4728936452873695', confidence: 96 });
  });
});

for (const { engine, env } of ocrEngines)
  describe(`A small table with rules that was scanned askew, by ${engine}`, () => {
    let service: AiService;
    before(async () => {
      const timeouts = { OCR_TIMEOUT_SECONDS: '500', EXTRACT_TIMEOUT_SECONDS: '500' };
      service = await startAiService({ OCR_PROVIDER: 'local', ...timeouts, ...env });
    });
    after(() => service.stop());

    for (const turned of [-4, -2, 1, 3, 5])
      it(`has its cells, of which two at most are read wrongly, turned by ${turned} degrees`, async () => {
        for (const rows of [stock, marks]) {
          const { text, ocrConfidence } = await service.client.extract({
            body: await scanTable(rows, { turned }),
            contentType: 'image/jpeg',
          });
          const read = text.split('\n').map((line) =>
            line
              .split('|')
              .slice(1, -1)
              .map((cell) => cell.trim()),
          );
          expect(
            read.map((row) => row.length),
            text,
          ).to.deep.equal([4, 4, 4, 4]);
          const wrong = rows.flat().filter((cell, n) => read.flat()[n] !== cell);
          expect(wrong.length, `${wrong} in ${text}`).to.be.at.most(2);
          expect(ocrConfidence?.[0], text).to.be.within(75, read.flat().includes('') ? 93 : 100);
        }
      });
  });
