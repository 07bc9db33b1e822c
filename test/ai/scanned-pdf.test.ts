import { chmodSync, copyFileSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import sharp from 'sharp';
import { renderPdfPage } from '../../ai/formats/pdf/read-pdf.ts';
import { parts } from '../../docs/examples/samples/handbook.ts';
import { makeTestDirectory, removeTestDirectory } from '../support/directories.ts';
import { nightly } from '../support/nightly.ts';
import { until } from '../support/processes.ts';
import { refusalOf, startAiService } from './support/ai-service.ts';
import { makePdf, makeUnmappedPdf } from './support/make-pdf.ts';
import { read } from './support/read.ts';
import { characterErrors, drawLine, makeScannedPdf } from './support/scan.ts';
import { useAiService } from './support/use-ai-service.ts';

const pdf = 'application/pdf';

describe('scanned PDFs at /v1/extract', () => {
  const service = useAiService({ OCR_PROVIDER: 'local', OCR_SCANNED_PDF: 'true' });

  it('have their pages without text read, each in its place, and tell a caller who asks of each', async () => {
    const body = await makeScannedPdf([
      { text: 'A typed cover sheet.' },
      { scan: ['The lease ends in March.'] },
      'blank',
      { scan: ['Signed by both sides.'], stamp: 'Received 12 March' },
    ]);
    const told: object[] = [];
    const reading = service.client.extract({ body, contentType: pdf, onProgress: (progress) => told.push(progress) });
    const {
      text,
      ocrConfidence = [],
      outline: { lines, ...outline },
      ...rest
    } = await reading;
    expect(ocrConfidence.map((one) => one !== null && one > 80)).to.deep.equal([false, true, false, true]);
    expect(text).to.equal('A typed cover sheet.\n\nThe lease ends in March.\n\nSigned by both sides.\n\nReceived 12 March');
    const starts = [0, text.indexOf('The lease'), text.indexOf('\n\nSigned'), text.indexOf('Signed')];
    expect(outline).to.deep.equal({ page_starts: starts, headings: [] });
    expect(lines).to.have.length(2);
    expect(rest).to.deep.equal({ characters: text.length, pages: 4, truncated: false, contentType: pdf, ocrPages: 2 });
    expect(told).to.deep.equal([
      { read: 1, of: 2 },
      { read: 2, of: 2 },
    ]);
    const plain = await service.client.extract({ body: Buffer.from('plain'), contentType: 'text/plain', onProgress: () => told.push({}) });
    expect([plain.text, told.length]).to.deep.equal(['plain', 2]);
  });

  it('have the letters read that their fonts do not name, beside text that is known', async () => {
    const body = makeUnmappedPdf('BT /F1 12 Tf 50 740 Td (Lease of a boathouse) Tj ET', [
      'The lease ends in March,',
      'unless both sides agree.',
    ]);
    const { text, ocrPages, notices } = await service.client.extract({ body, contentType: pdf });
    expect(text).to.match(/^Lease of a boathouse\s+The lease ends in March,\nunless both sides agree\.$/);
    expect({ ocrPages, notices }).to.deep.equal({ ocrPages: 1, notices: undefined });
  });

  nightly('are read with few wrong characters', async () => {
    const lines = wrap(parts.map((part) => ('text' in part ? part.text : '')).join(' '), 80).slice(0, 40);
    const { text } = await service.client.extract({ body: await makeScannedPdf([{ scan: lines }]), contentType: pdf });
    const errors = characterErrors(text, lines.join(' '));
    expect(errors, `${(errors * 100).toFixed(2)} % of the characters are wrong`).to.be.below(0.01);
  });

  nightly('are read upright if their pages are turned', async () => {
    const body = await makeScannedPdf([{ scan: ['The lease ends in March.'], rotated: true }]);
    // Text recognition would turn the picture itself, so that the text does not tell.
    expect(await quarterOfPrint(await renderPdfPage(body, 0, false))).to.equal('top left');
    expect((await service.client.extract({ body, contentType: pdf })).text).to.equal('The lease ends in March.');
  });
});

describe('scanned PDFs at their limits', () => {
  it('have no text while OCR_SCANNED_PDF is off', async () => {
    const found = await read(await makeScannedPdf([{ scan: ['The lease ends in March.'] }]), pdf);
    expect(found).to.include({ text: '', characters: 0, pages: 1, truncated: false }).and.not.have.property('ocr_pages');
    const text = 'Page 1 has a picture, in which text is not read while OCR_SCANNED_PDF is off.';
    expect(found.notices).to.deep.equal([{ code: 'scan_not_read', text }]);
  });

  const contract = (pages: number) => makeScannedPdf(Array(pages).fill({ scan: ['A page of a very long contract.'] }));

  nightly('have what was read in the time of the caller, and say that it is not all, also in lines', async () => {
    await using service = await startAiService({ OCR_PROVIDER: 'local', OCR_SCANNED_PDF: 'true' });
    const body = await contract(300);
    for (const onProgress of [undefined, () => {}]) {
      const { text, truncated, pages, ocrPages = 0 } = await service.client.extract({ body, contentType: pdf, seconds: 40, onProgress });
      expect({ truncated, pages }).to.deep.equal({ truncated: true, pages: 300 });
      expect(ocrPages).to.be.within(1, 299);
      expect(text.match(/very long contract/g)).to.have.length(ocrPages);
    }
  });

  nightly('fail with 502 if no page was read in the time of the caller, also in lines, and the next document is read', async () => {
    await using service = await startAiService({ OCR_PROVIDER: 'local', OCR_SCANNED_PDF: 'true' });
    const line = 'The lease begins in March and ends in the March after it, unless both sides say otherwise. '.repeat(2);
    const dense = await makeScannedPdf(Array(2).fill({ scan: Array(100).fill(line), points: 5 }));
    for (const onProgress of [undefined, () => {}]) {
      const reading = service.client.extract({ body: dense, contentType: pdf, seconds: 1, onProgress });
      const error = await reading.catch((caught: unknown) => caught);
      expect(error).to.include({ kind: 'failed', status: 502, code: 'ocr_timeout', retryable: true });
      expect((error as Error).message).to.equal('None of 2 scanned pages was read within 1 seconds.');
    }
    const typed = await makeScannedPdf([{ text: 'Short page' }]);
    expect((await service.client.extract({ body: typed, contentType: pdf })).text).to.equal('Short page');
  });

  nightly('leave room for other documents, and are refused for the time being if many of them wait', async () => {
    const service = await startAiService({ OCR_PROVIDER: 'local', OCR_SCANNED_PDF: 'true', AI_READERS: '2' });
    const leaving = new AbortController();
    try {
      const body = await contract(60);
      let [begun, ended] = [0, 0];
      const refused: unknown[] = [];
      const scans = Array.from({ length: 8 }, () => {
        const call = { body, contentType: pdf, signal: leaving.signal, onProgress: () => (begun += 1) };
        return service.client.extract(call).then(
          () => (ended += 1),
          (error) => refused.push(error),
        );
      });
      // Two are read, and two wait: these are more than there would be room for otherwise.
      await until(() => begun > 0 && refused.length === 4);
      for (const error of refused) expect(error).to.include({ kind: 'failed', status: 503, code: 'busy', retryAfterMs: 2_000 });
      for (const contentType of ['text/plain', 'text/html'])
        expect((await service.client.extract({ body: Buffer.from('well'), contentType })).text).to.equal('well');
      expect([ended, refused.length]).to.deep.equal([0, 4]);
      leaving.abort();
      await Promise.all(scans);
    } finally {
      await service.stop();
    }
  });

  nightly('cannot keep a reader busy with a page that takes for ever to render', async () => {
    const env = { OCR_PROVIDER: 'local', OCR_SCANNED_PDF: 'true', EXTRACT_TIMEOUT_SECONDS: '2', AI_READERS: '1' };
    await using service = await startAiService(env);
    // Cheap to parse, but each of its figures fills the page through a soft pattern of many small strokes.
    const slow = makePdf(`${'0 0 600 800 re f 0 0 m 600 800 l 0 800 l 600 0 l b* '.repeat(60_000)}`);
    expect(await refusalOf(await service.extract(slow, pdf))).to.deep.equal([408, 'extract_timeout']);
    expect((await service.client.extract({ body: Buffer.from('well'), contentType: 'text/plain' })).text).to.equal('well');
  });
});

describe('the languages of text recognition', () => {
  let directory: string;
  before(() => {
    directory = join(makeTestDirectory(), 'languages');
    mkdirSync(directory);
    // The readers of images have rights of their own.
    chmodSync(directory, 0o755);
    // A name of its own, and data that is known to work.
    const copy = join(directory, 'tarn.traineddata.gz');
    copyFileSync('node_modules/@tesseract.js-data/eng/4.0.0_best_int/eng.traineddata.gz', copy);
    chmodSync(copy, 0o644);
  });
  after(() => removeTestDirectory(join(directory, '..')));

  nightly('come from OCR_LANGUAGES_DIR', async () => {
    await using service = await startAiService({ OCR_PROVIDER: 'local', OCR_LANGUAGES: 'tarn', OCR_LANGUAGES_DIR: directory });
    const body = await drawLine('The bridge is closed');
    expect((await service.client.extract({ body, contentType: 'image/png' })).text).to.equal('The bridge is closed');
  });

  nightly('are said to lack that of a page in another script, which is read unsurely', async () => {
    await using service = await startAiService({ OCR_PROVIDER: 'local', OCR_SCANNED_PDF: 'true' });
    const lines = Array(6).fill('Арендатор вносит плату не позднее пятого числа каждого месяца.');
    const { notices, ocrConfidence } = await service.client.extract({ body: await makeScannedPdf([{ scan: lines }]), contentType: pdf });
    expect(ocrConfidence?.[0]).to.be.below(75);
    expect(notices?.map(({ code }) => code)).to.deep.equal(['unsure_text']);
    expect(notices?.[0]?.text).to.match(/^Page 1 has text that was not read surely: .* in a language that OCR_LANGUAGES does not name\.$/);
  });

  it('are a problem at /health if their data is absent, and what needs them is refused for good', async () => {
    const languages = { OCR_LANGUAGES: 'tarn,fell', OCR_LANGUAGES_DIR: directory };
    await using service = await startAiService({ OCR_PROVIDER: 'local', OCR_SCANNED_PDF: 'true', ...languages });
    await until(async () => !(await service.client.health()).ok);
    const { problems } = await service.client.health();
    expect(problems.join(), problems.join()).to.contain('fell.traineddata.gz');
    const scan = await makeScannedPdf([{ scan: ['The lease ends in March.'] }]);
    for (const [body, contentType] of [
      [scan, pdf],
      [readFileSync('docs/examples/samples/trail-notice.png'), 'image/png'],
    ] as const) {
      const error = await service.client.extract({ body, contentType }).catch((caught: unknown) => caught);
      expect(error, contentType).to.include({ kind: 'rejected', status: 415, code: 'ocr_unavailable', retryable: false });
    }
  });
});

/** The quarter of a page that its first letter is in: the page begins at its corner. */
async function quarterOfPrint(image: Buffer): Promise<string> {
  const { data, info } = await sharp(image).greyscale().raw().toBuffer({ resolveWithObject: true });
  const at = data.findIndex((level) => level < 100);
  const [x, y] = [at % info.width, Math.floor(at / info.width)];
  return `${y * 2 < info.height ? 'top' : 'bottom'} ${x * 2 < info.width ? 'left' : 'right'}`;
}

function wrap(text: string, width: number): string[] {
  return text.match(new RegExp(`\\S.{0,${width - 2}}\\S(?=\\s|$)`, 'g')) ?? [];
}
