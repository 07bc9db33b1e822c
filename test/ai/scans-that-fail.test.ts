import { expect } from 'chai';
import { type AiService, startAiService } from './support/ai-service.ts';
import { chat, type RemoteAnswer, type RemoteModel, startRemoteModel } from './support/remote-model.ts';
import { makeScannedPdf, type ScanPage } from './support/scan.ts';

const contentType = 'application/pdf';
const down: RemoteAnswer = { status: 500, body: {} };
const wait = (seconds: number): RemoteAnswer => ({ status: 429, body: {}, headers: { 'retry-after': `${seconds}` } });

describe('Scanned pages that the remote text recognition does not read', () => {
  let remote: RemoteModel;
  let service: AiService;
  before(async () => {
    remote = await startRemoteModel();
    const env = { REMOTE_AI_KEY: 'key', REMOTE_AI_BASE_URL: remote.baseUrl, OCR_PROVIDER: 'remote', OCR_SCANNED_PDF: 'true' };
    service = await startAiService({ ...env, OCR_TIMEOUT_SECONDS: '3' });
  });
  after(async () => {
    await service.stop();
    await remote.stop();
  });

  /** Reads a scan while the remote answers so, then as with the last one. */
  const read = async (pages: ScanPage[], ...answers: RemoteAnswer[]) => {
    remote.requests.length = 0;
    remote.answer = () => answers[Math.min(remote.requests.length, answers.length) - 1] ?? down;
    return await service.client.extract({ body: await makeScannedPdf(pages), contentType });
  };
  const scans = (count: number): ScanPage[] => Array(count).fill({ scan: ['A page.'] });
  const errorOf = (reading: Promise<unknown>) => reading.catch((error: unknown) => error);

  it('stay without text if it hangs or fails on one, and the text says that it is not all', async () => {
    for (const answer of ['hang', down] as const) {
      const { text, truncated, ocrPages } = await read(scans(3), chat('One'), answer, chat('Three'));
      expect({ text, truncated, ocrPages }, `${answer}`).to.deep.equal({ text: 'One\n\nThree', truncated: true, ocrPages: 2 });
    }
  });

  it('fail together if it is down, so that another attempt reads them', async () => {
    const failed = { kind: 'failed', status: 502, code: 'ocr_failed', retryable: true };
    expect(await errorOf(read([{ text: 'Typed.' }, ...scans(1)], down))).to.include(failed);
    expect(await errorOf(read(scans(4), down))).to.include(failed);
    expect(remote.requests).to.have.length(3);
    expect(await errorOf(read(scans(5), chat('One'), down))).to.include(failed);
    expect(remote.requests).to.have.length(4);
  });

  it('are read after the wait that it asks for, and the pages before them only once', async () => {
    const { text, truncated } = await read(scans(3), chat('One'), wait(1), chat('Two'), chat('Three'));
    expect({ text, truncated }).to.deep.equal({ text: 'One\n\nTwo\n\nThree', truncated: false });
    expect(remote.requests).to.have.length(4);
  });

  it('stay without text if that wait is too long, and those before them are kept', async () => {
    const { text, truncated } = await read(scans(3), chat('One'), wait(3_600));
    expect({ text, truncated }).to.deep.equal({ text: 'One', truncated: true });
    expect(remote.requests).to.have.length(2);
    const limited = { status: 502, code: 'ocr_failed', retryable: true, retryAfterMs: 3_600_000 };
    expect(await errorOf(read(scans(3), wait(3_600)))).to.include(limited);
  });
});

describe('Scanned pages that the local text recognition does not read in time', () => {
  const line = 'The lease begins in March and ends in the March after it, unless both sides say otherwise. '.repeat(2);
  const dense = { scan: Array(100).fill(line), points: 5 };

  it('stay without text, and the text of the others says that it is not all', async () => {
    const service = await startAiService({ OCR_PROVIDER: 'local', OCR_SCANNED_PDF: 'true', OCR_TIMEOUT_SECONDS: '10' });
    try {
      const body = await makeScannedPdf([{ scan: ['The lease ends in March.'] }, dense, { scan: ['Signed by both sides.'] }]);
      const { text, truncated, ocrPages } = await service.client.extract({ body, contentType });
      expect({ text, truncated, ocrPages }).to.deep.equal({
        ...{ text: 'The lease ends in March.\n\nSigned by both sides.', truncated: true, ocrPages: 2 },
      });
      const typed = await service.client.extract({ body: await makeScannedPdf([{ text: 'Typed.' }, dense]), contentType });
      expect(typed).to.include({ text: 'Typed.', truncated: true });
    } finally {
      await service.stop();
    }
  });
});
