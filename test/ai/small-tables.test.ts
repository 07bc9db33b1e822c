import { expect } from 'chai';
import sharp from 'sharp';
import { nightly } from '../support/nightly.ts';
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

for (const { engine, env } of ocrEngines)
  describe(`A small table with rules that was scanned askew, by ${engine}`, () => {
    let service: AiService;
    before(async () => {
      const timeouts = { OCR_TIMEOUT_SECONDS: '500', EXTRACT_TIMEOUT_SECONDS: '500' };
      service = await startAiService({ OCR_PROVIDER: 'local', ...timeouts, ...env });
    });
    after(() => service.stop());

    for (const turned of [-4, -2, 1, 3, 5])
      nightly(`has its cells, of which two at most are read wrongly, turned by ${turned} degrees`, async () => {
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
          expect(ocrConfidence?.[0], text).to.be.within(75, 100);
        }
      });
  });
