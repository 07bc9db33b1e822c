import { expect } from 'chai';
import { type AiService, startAiService } from './support/ai-service.ts';
import { makeScannedPdf, type ScanPage } from './support/scan.ts';

const stamp = 'DocuSign Envelope ID: 7C1F20B4-93AE-4D0B';

describe('Scanned pages with a stamp of text', () => {
  let service: AiService;
  before(async () => {
    service = await startAiService({ OCR_PROVIDER: 'local', OCR_SCANNED_PDF: 'true', OCR_SCANNED_PDF_PAGES: '2' });
  });
  after(() => service.stop());

  const read = async (...pages: ScanPage[]) =>
    await service.client.extract({ body: await makeScannedPdf(pages), contentType: 'application/pdf' });
  const scan = ['The lease ends in March, and the tenant', 'pays for the gravel of the drive until then.'];

  it('are recognized, and keep the stamp', async () => {
    for (const page of [
      { scan, stamp },
      { scan, stamp, wide: 0.9 },
    ]) {
      const { text, ocrPages, truncated } = await read(page);
      expect(text).to.contain('pays for the gravel').and.contain(stamp);
      expect({ ocrPages, truncated }).to.deep.equal({ ocrPages: 1, truncated: false });
    }
  });

  it('are not recognized if they have much text, or little picture', async () => {
    const written = 'The tenant pays for the gravel of the drive until March. '.repeat(4);
    for (const page of [{ text: written }, { scan, stamp: written }, { scan, stamp, wide: 0.6 }, { text: 'Typed.' }])
      expect(await read(page), JSON.stringify(page)).to.not.have.property('ocrPages');
  });

  it('are recognized after those without text if there are more than OCR_SCANNED_PDF_PAGES', async () => {
    const { text, truncated } = await read({ scan: ['First.'], stamp }, { scan: ['Second page.'] }, { scan: ['Third page.'] });
    expect(truncated).to.equal(true);
    expect(text).to.equal(`${stamp}\n\nSecond page.\n\nThird page.`);
  });
});
