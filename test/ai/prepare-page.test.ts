import { expect } from 'chai';
import sharp from 'sharp';
import type { Engine } from '../../ai/ocr/engine.ts';
import { toGrey } from '../../ai/ocr/image/grey.ts';
import { preparePage } from '../../ai/ocr/prepare-page.ts';

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
