import { expect } from 'chai';
import sharp from 'sharp';
import { parts } from '../../docs/examples/samples/handbook.ts';
import { nightly } from '../support/nightly.ts';
import { type AiService, startAiService } from './support/ai-service.ts';
import { ocrEngines } from './support/ocr-engines.ts';
import { characterErrors, scan } from './support/scan.ts';

const prose = parts.map((part) => (part.kind === 'paragraph' ? part.text : '')).join(' ');
const lines = (prose.match(/\S.{0,78}\S(?=\s|$)/g) ?? []).slice(0, 8);

/** The scan at some dots per inch, of which each so manieth pixel is black, as a fax is. */
async function speckle(image: Buffer, dotsPerInch: number, every: number): Promise<Buffer> {
  const { width } = await sharp(image).metadata();
  const small = sharp(image).resize({ width: Math.round((width * dotsPerInch) / 200) });
  const { data, info } = await small.greyscale().raw().toBuffer({ resolveWithObject: true });
  let seed = 7;
  for (let index = 0; index < data.length; index += 1) {
    seed = (Math.imul(seed, 1_103_515_245) + 12_345) & 0x7fffffff;
    if ((seed >> 8) % every === 0) data[index] = 0;
  }
  const { width: wide, height, channels } = info;
  return await sharp(data, { raw: { width: wide, height, channels } })
    .png()
    .toBuffer();
}

for (const { engine, env } of ocrEngines)
  describe(`Speckled print, by ${engine}`, () => {
    let service: AiService;
    before(async () => {
      service = await startAiService({ OCR_PROVIDER: 'local', OCR_TIMEOUT_SECONDS: '500', EXTRACT_TIMEOUT_SECONDS: '500', ...env });
    });
    after(() => service.stop());

    for (const [dotsPerInch, every] of [
      [200, 20],
      [100, 300],
    ] as const)
      nightly(`is read at ${dotsPerInch} dots per inch, with one pixel of ${every} in black`, async () => {
        const body = await speckle(await scan(lines), dotsPerInch, every);
        const { text, ocrConfidence } = await service.client.extract({ body, contentType: 'image/png' });
        const errors = characterErrors(text, lines.join(' '));
        expect(errors, `${(errors * 100).toFixed(2)} % of the characters are wrong`).to.be.below(0.04);
        expect(ocrConfidence?.[0]).to.be.within(85, 100);
      });
  });
