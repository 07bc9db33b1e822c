import { expect } from 'chai';
import sharp from 'sharp';
import { parts } from '../../docs/examples/samples/handbook.ts';
import { nightly } from '../support/nightly.ts';
import { type AiService, startAiService } from './support/ai-service.ts';
import { ocrEngines } from './support/ocr-engines.ts';
import { characterErrors, makeScannedPdf, scan } from './support/scan.ts';

const prose = parts.map((part) => (part.kind === 'paragraph' ? part.text : '')).join(' ');
const lines = (prose.match(/\S.{0,78}\S(?=\s|$)/g) ?? []).slice(0, 6);
const turns = [90, 180, 270] as const;

for (const { engine, env } of ocrEngines)
  describe(`Pages that were scanned upside down or sideways, by ${engine}`, () => {
    let service: AiService;
    before(async () => {
      // A page that is turned is read several times, and nothing is tried for which there is no time.
      const time = { OCR_TIMEOUT_SECONDS: '500', EXTRACT_TIMEOUT_SECONDS: '500', OCR_SCANNED_PDF_SECONDS: '500' };
      service = await startAiService({ OCR_PROVIDER: 'local', OCR_SCANNED_PDF: 'true', ...time, ...env });
    });
    after(() => service.stop());

    for (const turned of turns) {
      nightly(`are read upright in a PDF, turned by ${turned} degrees`, async () => {
        const body = await makeScannedPdf([{ scan: lines, turned }]);
        const { text, ocrConfidence } = await service.client.extract({ body, contentType: 'application/pdf' });
        const errors = characterErrors(text, lines.join(' '));
        expect(errors, `${(errors * 100).toFixed(2)} % of the characters are wrong`).to.be.below(0.01);
        expect(ocrConfidence?.[0]).to.be.within(80, 100);
      });

      nightly(`are read upright as images, turned by ${turned} degrees`, async () => {
        const { text } = await service.client.extract({ body: await scan(lines, { turned }), contentType: 'image/jpeg' });
        const errors = characterErrors(text, lines.join(' '));
        expect(errors, `${(errors * 100).toFixed(2)} % of the characters are wrong`).to.be.below(0.01);
      });
    }

    nightly('are found page by page, and each has its confidence', async () => {
      const body = await makeScannedPdf([{ text: 'Typed.' }, { scan: lines }, 'blank', { scan: lines, turned: 180 }]);
      const { text, ocrConfidence } = await service.client.extract({ body, contentType: 'application/pdf' });
      expect(text.split(lines[0]?.slice(0, 40) ?? '')).to.have.length(3);
      expect(ocrConfidence?.map((one) => one !== null && one > 80)).to.deep.equal([false, true, false, true]);
      expect([ocrConfidence?.[0], ocrConfidence?.[2]]).to.deep.equal([null, null]);
    });

    it('are left as they are if no turn is better: noise, and print that is hard to read', async () => {
      const noise = await sharp({
        create: { width: 240, height: 240, channels: 3, background: 'white', noise: { type: 'gaussian', mean: 128, sigma: 60 } },
      })
        .jpeg()
        .toBuffer();
      expect(await service.client.extract({ body: noise, contentType: 'image/jpeg' })).to.include({ pages: 1 });
      const faint = await sharp(await scan(lines))
        .resize({ width: 620 })
        .blur(0.8)
        .jpeg({ quality: 40 })
        .toBuffer();
      const { text } = await service.client.extract({ body: faint, contentType: 'image/jpeg' });
      expect(text).to.match(/observator/i);
    });
  });
