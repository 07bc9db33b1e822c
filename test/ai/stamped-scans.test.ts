import { expect } from 'chai';
import PDFDocument from 'pdfkit';
import { nightly } from '../support/nightly.ts';
import { type AiService, startAiService } from './support/ai-service.ts';
import { makeScannedPdf, scan as pictureOf, type ScanPage } from './support/scan.ts';

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

  nightly('are recognized, and keep the stamp', async () => {
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
    for (const page of [{ text: written }, { scan, stamp: written }, { scan, stamp, wide: 0.4 }, { text: 'Typed.' }])
      expect(await read(page), JSON.stringify(page)).to.not.have.property('ocrPages');
  });

  /** A page with a picture that is so high, as a share of the page, above typed text. */
  const beside = async (height: number, typed: string): Promise<Buffer> => {
    const document = new PDFDocument({ size: 'A4', margin: 40 });
    document.image(await pictureOf(scan), 0, 0, { width: document.page.width, height: document.page.height * height });
    document.fontSize(10).text(typed, 40, document.page.height * height + 20, { height: document.page.height * (1 - height) - 70 });
    document.end();
    return Buffer.concat(await document.toArray());
  };
  const extract = async (body: Buffer) => await service.client.extract({ body, contentType: 'application/pdf' });

  it('have a picture read that stands beside a footer or a paragraph, and keep those as they are', async () => {
    const typed = 'Annual report of the observatory, page 3 of 9';
    const { text, ocrPages } = await extract(await beside(0.4, typed));
    // The picture is squeezed, so that a small letter may look like a capital one.
    expect(text).to.contain('for the gravel of the drive').and.contain(typed);
    expect(ocrPages).to.equal(1);
  });

  it('do not have an illustration of a full page of text read', async () => {
    const typed = 'The tenant pays for the gravel of the drive until March. '.repeat(12);
    expect(await extract(await beside(0.4, typed))).not.to.have.property('ocrPages');
  });

  nightly('are recognized after those without text if there are more than OCR_SCANNED_PDF_PAGES', async () => {
    const { text, truncated } = await read({ scan: ['First.'], stamp }, { scan: ['Second page.'] }, { scan: ['Third page.'] });
    expect(truncated).to.equal(true);
    expect(text).to.equal(`${stamp}\n\nSecond page.\n\nThird page.`);
  });
});
