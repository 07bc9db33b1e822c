import { expect } from 'chai';
import PDFDocument from 'pdfkit';
import { readPdfPages } from '../../ai/formats/pdf/read-pdf.ts';
import { makePdfOf, stream } from './support/make-pdf.ts';
import { makeScannedPdf, scan as pictureOf, type ScanPage } from './support/scan.ts';

const limits = { maxUploadBytes: 10_000_000, maxTextCharacters: 10_000, maxPdfPages: 10 };
const readPages = (bytes: Buffer) =>
  readPdfPages({ bytes, mediaType: 'application/pdf', charset: undefined }, limits, async () => undefined);
const scan = ['The lease ends in March, and the tenant', 'pays for the gravel of the drive until then.'];
const stamp = 'DocuSign Envelope ID: 7C1F20B4-93AE-4D0B';
const text = 'BT /F1 24 Tf 20 600 Td (Annual report) Tj ET BT /F1 12 Tf 20 20 Td (March 2026) Tj ET';

describe('A page with a picture and a text of its own', () => {
  const scannedOf = async (page: ScanPage) => (await readPages(await makeScannedPdf([page]))).scanned;

  it('is a scan if its text is a stamp', async () => {
    for (const wide of [1, 0.9]) expect(await scannedOf({ scan, stamp, wide }), `${wide}`).to.deep.equal([0]);
  });

  it('is none if it has much text, or little picture', async () => {
    const written = 'The tenant pays for the gravel of the drive until March. '.repeat(4);
    for (const page of [{ text: written }, { scan, stamp: written }, { scan, stamp, wide: 0.4 }, { text: 'Typed.' }])
      expect(await scannedOf(page), JSON.stringify(page)).to.deep.equal([]);
  });

  it('is one if a picture stands beside a footer or a paragraph, and none if it illustrates a full page of text', async () => {
    const beside = async (typed: string): Promise<Buffer> => {
      const document = new PDFDocument({ size: 'A4', margin: 40 });
      const { width, height } = document.page;
      document.image(await pictureOf(scan), 0, 0, { width, height: height * 0.4 });
      document.fontSize(10).text(typed, 40, height * 0.4 + 20, { height: height * 0.6 - 70 });
      document.end();
      return Buffer.concat(await document.toArray());
    };
    expect((await readPages(await beside('Annual report of the observatory, page 3 of 9'))).scanned).to.deep.equal([0]);
    const typed = 'The tenant pays for the gravel of the drive until March. '.repeat(12);
    expect((await readPages(await beside(typed))).scanned).to.deep.equal([]);
  });
});

/** What a form draws in its own space, and its `Matrix`. */
interface Form {
  draws: string;
  matrix?: string;
}

/** A PDF of one page of 600 by 800 points with two lines of text. It may draw the picture `/Im`, and the forms `/Fm0` and so on, as they may too. */
function makeFormPdf(draws: string, forms: Form[]): Buffer {
  const xObjects = ['/Im 10 0 R', ...forms.map((_, index) => `/Fm${index} ${11 + index} 0 R`)].join(' ');
  const resources = `/Resources << /Font << /F1 3 0 R >> /XObject << ${xObjects} >> >>`;
  const form = '/Type /XObject /Subtype /Form /BBox [-1000 -1000 1000 1000]';
  return makePdfOf({
    content: draws,
    resources: `/XObject << ${xObjects} >>`,
    objects: [
      stream('/Type /XObject /Subtype /Image /Width 1 /Height 1 /ColorSpace /DeviceGray /BitsPerComponent 8', 'x'),
      ...forms.map(({ draws: own, matrix = '1 0 0 1 0 0' }) => stream(`${form} /Matrix [${matrix}] ${resources}`, own)),
    ],
  });
}

const drawn = (name: string, matrix = '1 0 0 1 0 0') => `q ${matrix} cm /${name} Do Q`;

async function isScanned(draws: string, ...forms: Form[]): Promise<boolean> {
  const { texts, scanned } = await readPages(makeFormPdf(draws, forms));
  expect(texts.join()).to.contain('Annual report').and.contain('March 2026');
  return scanned.length === 1;
}

describe('A page with little text that is drawn by a form', () => {
  const logo = drawn('Im', '50 0 0 50 540 740');
  const photograph = drawn('Im', '600 0 0 800 0 0');

  it('is no scan if its pictures are small, however the form is placed', async () => {
    expect(await isScanned(`${text} ${logo}`)).to.equal(false);
    expect(await isScanned(drawn('Fm0'), { draws: `${text} ${logo}` })).to.equal(false);
    const tiny = `q .1 0 0 .1 0 0 cm ${text} ${logo} Q`;
    expect(await isScanned(drawn('Fm0', '10 0 0 10 0 0'), { draws: tiny })).to.equal(false);
    expect(await isScanned(drawn('Fm0'), { draws: tiny, matrix: '10 0 0 10 0 0' })).to.equal(false);
    expect(await isScanned(drawn('Fm0'), { draws: `${text} ${drawn('Fm1')}` }, { draws: logo })).to.equal(false);
    // It is large in its own space, and beside the page.
    expect(await isScanned(`${text} ${drawn('Fm0', '.1 0 0 .1 0 0')}`, { draws: photograph })).to.equal(false);
    expect(await isScanned(`${text} ${drawn('Fm0', '1 0 0 1 500 0')}`, { draws: photograph })).to.equal(false);
  });

  it('is a scan if its pictures cover it, however the form is placed', async () => {
    expect(await isScanned(`${photograph} ${text}`)).to.equal(true);
    expect(await isScanned(drawn('Fm0'), { draws: `${photograph} ${text}` })).to.equal(true);
    const unit = { draws: '/Im Do' };
    expect(await isScanned(`${drawn('Fm0', '600 0 0 800 0 0')} ${text}`, unit)).to.equal(true);
    expect(await isScanned(`${drawn('Fm0', '0 800 -600 0 600 0')} ${text}`, unit)).to.equal(true);
    expect(await isScanned(`${drawn('Fm0')} ${text}`, { ...unit, matrix: '600 0 0 800 0 0' })).to.equal(true);
    const halves = [drawn('Fm0', '600 0 0 400 0 0'), drawn('Fm0', '600 0 0 400 0 400')].join(' ');
    expect(await isScanned(`${halves} ${text}`, unit)).to.equal(true);
    const nested = { draws: drawn('Fm0', '60 0 0 1 0 0') };
    expect(await isScanned(`${drawn('Fm1', '10 0 0 800 0 0')} ${text}`, unit, nested)).to.equal(true);
  });
});
