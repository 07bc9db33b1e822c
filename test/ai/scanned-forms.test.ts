import { expect } from 'chai';
import { readPdfPages } from '../../ai/formats/pdf/read-pdf.ts';
import { assemblePdf } from '../lab/pdf.ts';

const limits = { maxUploadBytes: 1_000_000, maxTextCharacters: 10_000, maxPdfPages: 10 };
const text = 'BT /F1 24 Tf 20 600 Td (Annual report) Tj ET BT /F1 12 Tf 20 20 Td (March 2026) Tj ET';

/** What a form draws in its own space, and its `Matrix`. */
interface Form {
  draws: string;
  matrix?: string;
}

/** A PDF of one page of 600 by 800 points with two lines of text. It may draw the picture `/Im`, and the forms `/Fm0` and so on, as they may too. */
function makeFormPdf(draws: string, forms: Form[]): Buffer {
  const stream = (dictionary: string, content: string) =>
    Buffer.from(`<< ${dictionary} /Length ${content.length} >>\nstream\n${content}\nendstream`);
  const xObjects = ['/Im 5 0 R', ...forms.map((_, index) => `/Fm${index} ${7 + index} 0 R`)].join(' ');
  const resources = `/Resources << /Font << /F1 3 0 R >> /XObject << ${xObjects} >> >>`;
  const form = '/Type /XObject /Subtype /Form /BBox [-1000 -1000 1000 1000]';
  return assemblePdf([
    Buffer.from('<< /Type /Catalog /Pages 2 0 R >>'),
    Buffer.from('<< /Type /Pages /Kids [4 0 R] /Count 1 >>'),
    Buffer.from('<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>'),
    Buffer.from(`<< /Type /Page /Parent 2 0 R /MediaBox [0 0 600 800] /Contents 6 0 R ${resources} >>`),
    stream('/Type /XObject /Subtype /Image /Width 1 /Height 1 /ColorSpace /DeviceGray /BitsPerComponent 8', 'x'),
    stream('', draws),
    ...forms.map(({ draws, matrix = '1 0 0 1 0 0' }) => stream(`${form} /Matrix [${matrix}] ${resources}`, draws)),
  ]);
}

const drawn = (name: string, matrix = '1 0 0 1 0 0') => `q ${matrix} cm /${name} Do Q`;

async function isScanned(draws: string, ...forms: Form[]): Promise<boolean> {
  const document = { bytes: makeFormPdf(draws, forms), mediaType: 'application/pdf', charset: undefined };
  const { texts, scanned } = await readPdfPages(document, limits, async () => undefined);
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
