import { expect } from 'chai';
import sharp from 'sharp';
import type { Engine } from '../../ai/ocr/engine.ts';
import { toGrey } from '../../ai/ocr/image/grey.ts';
import { preparePage } from '../../ai/ocr/prepare-page.ts';
import { parts } from '../../examples/samples/handbook.ts';
import { scan } from './support/scan.ts';

const lines = [
  'NORTHGATE HARDWARE LTD',
  'Wood screws 4x40     6.49',
  'Masking tape 48mm    3.75',
  'Paint brush 50mm     8.95',
  'TOTAL     19.19',
];
const none: Engine = { recognize: async () => [] };

/** A receipt on a dark table, of which a shadow covers most, turned. */
async function photograph(turned: number): Promise<Buffer> {
  const table = '#4b3a2e';
  const rows = lines.map(
    (line, index) =>
      `<text x="30" y="${70 + index * 47}" font-family="DejaVu Sans Mono" font-size="29" xml:space="preserve" fill="#333">${line}</text>`,
  );
  const paper = `<svg xmlns="http://www.w3.org/2000/svg" width="560" height="320"><rect width="100%" height="100%" fill="#f4f1e8"/>${rows.join('')}</svg>`;
  const noise = { type: 'gaussian', mean: 128, sigma: 9 } as const;
  const lying = await sharp(Buffer.from(paper))
    .extend({ top: 200, bottom: 200, left: 160, right: 160, background: table })
    .png()
    .toBuffer();
  const { width, height } = await sharp(lying).metadata();
  const grain = await sharp({ create: { width, height, channels: 3, background: 'grey', noise } })
    .png()
    .toBuffer();
  const taken = await sharp(lying)
    .removeAlpha()
    .composite([{ input: grain, blend: 'soft-light' }])
    .linear(0.55)
    .png()
    .toBuffer();
  return await sharp(taken).rotate(turned).png().toBuffer();
}

describe('A photograph of print on a dark ground', () => {
  for (const turned of [0, 90, 180, 270])
    it(`is not taken for light print on dark, turned by ${turned} degrees`, async () => {
      const prepared = await preparePage(await toGrey(sharp(await photograph(turned)).greyscale()), none);
      expect(prepared?.letters.length).to.be.within(70, 130);
      expect(prepared?.letter).to.be.within(15, 30);
    });
});

describe('A page with many letters', () => {
  const prose = parts.map((part) => (part.kind === 'paragraph' ? part.text : '')).join(' ');
  const lines = (prose.match(/\S.{0,78}\S(?=\s|$)/g) ?? []).slice(0, 14);

  async function readingsOf(image: Buffer): Promise<number> {
    let readings = 0;
    const engine: Engine = {
      recognize: async () => {
        readings += 1;
        return [];
      },
    };
    await preparePage(await toGrey(sharp(image).greyscale()), engine);
    return readings;
  }

  it('is known to be upright by its shape, without a reading', async () => {
    expect(await readingsOf(await scan(lines))).to.equal(0);
    expect(
      await readingsOf(
        await sharp(await scan(lines))
          .resize({ width: 827 })
          .toBuffer(),
      ),
    ).to.equal(0);
  });

  it('is read to know it if its shape does not tell: upside down, in capitals, and in Cyrillic letters', async () => {
    const cyrillic = Array.from({ length: 14 }, () => 'Исполнитель обязуется оказать услуги по перевозке груза в срок, указанный здесь.');
    expect(await readingsOf(await scan(lines, { turned: 180 }))).to.equal(4);
    expect(await readingsOf(await scan(lines.map((line) => line.toUpperCase())))).to.equal(4);
    for (const turned of [0, 180]) expect(await readingsOf(await scan(cyrillic, { turned }))).to.equal(4);
  });
});
