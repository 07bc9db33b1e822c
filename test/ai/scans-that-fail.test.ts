import { expect } from 'chai';
import { refusalOf } from './support/ai-service.ts';
import { chat, type RemoteAnswer } from './support/remote-model.ts';
import { makeScannedPdf, type ScanPage } from './support/scan.ts';
import { useRemoteModel } from './support/use-ai-service.ts';

const contentType = 'application/pdf';
const down: RemoteAnswer = { status: 500, body: {} };
const wait = (seconds: number): RemoteAnswer => ({ status: 429, body: {}, headers: { 'retry-after': `${seconds}` } });

describe('Scanned pages that are not read', () => {
  const { remote, service } = useRemoteModel((baseUrl) => {
    const env = { REMOTE_AI_KEY: 'key', REMOTE_AI_BASE_URL: baseUrl, OCR_PROVIDER: 'remote', OCR_SCANNED_PDF: 'true' };
    return { ...env, OCR_TIMEOUT_SECONDS: '2' };
  });

  /** Reads a scan while the remote answers so, then as with the last one. */
  const read = async (pages: ScanPage[], ...answers: RemoteAnswer[]) => {
    remote.requests.length = 0;
    remote.answer = () => answers[Math.min(remote.requests.length, answers.length) - 1] ?? down;
    return await service.client.extract({ body: await makeScannedPdf(pages), contentType });
  };
  const scans = (count: number): ScanPage[] => Array(count).fill({ scan: ['A page.'] });
  const errorOf = (reading: Promise<unknown>) => reading.catch((error: unknown) => error);

  it('are those for which the caller has no time, and the text says that it is not all', async () => {
    remote.answer = () => (remote.requests.length === 1 ? chat('One') : 'hang');
    remote.requests.length = 0;
    const read = await service.client.extract({ body: await makeScannedPdf(scans(4)), contentType, seconds: 4 });
    expect(read).to.include({ text: 'One', truncated: true, ocrPages: 1, pages: 4 });
    expect(read.notices?.map(({ code }) => code)).to.include('scan_over_limit');
  });

  it('are refused with a time that is none', async () => {
    const headers = { 'content-type': contentType, 'x-seconds': '0' };
    const response = await service.ask('/v1/extract', { method: 'POST', body: 'x', headers });
    expect(await refusalOf(response)).to.deep.equal([422, 'invalid_request']);
  });

  it('are those that cannot be drawn, and do not count as read', async () => {
    const { text, truncated, ocrPages } = await read([...scans(1), 'narrow', ...scans(1)], chat('One'), chat('Two'));
    expect({ text, truncated, ocrPages }).to.deep.equal({ text: 'One\n\nTwo', truncated: true, ocrPages: 2 });
    const typed = await read([{ text: 'Typed.' }, 'narrow']);
    expect(typed).to.include({ text: 'Typed.', truncated: true }).and.not.have.any.keys('ocrPages', 'ocrConfidence');
    const nothing = await makeScannedPdf(['narrow', 'blank']);
    expect(await refusalOf(await service.extract(nothing as never, contentType))).to.deep.equal([422, 'unreadable_document']);
  });

  it('stay without text if the remote model hangs or fails on one, and the text says that it is not all', async () => {
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

  it('stay without text if it refuses one, and the text says that it is not all', async () => {
    for (const status of [400, 422]) {
      const refused = { status, body: {} };
      const { text, truncated, ocrPages } = await read(scans(4), refused, refused, refused, chat('Four'));
      expect({ text, truncated, ocrPages }, `${status}`).to.deep.equal({ text: 'Four', truncated: true, ocrPages: 1 });
      expect(await errorOf(read(scans(4), refused))).to.include({ status: 502, code: 'ocr_failed' });
    }
  });

  it('keep the text that they have, and fail no document of which other pages have text', async () => {
    const cover: ScanPage = { scan: ['A photograph.'], stamp: 'The cover.' };
    for (const answer of ['hang', down, wait(3_600), { status: 400, body: {} }] as const) {
      const { text, ...rest } = await read([cover, { text: 'Typed.' }], answer);
      expect({ text, ...rest }, JSON.stringify(answer)).to.include({ text: 'The cover.\n\nTyped.', truncated: true });
      expect(rest).to.not.have.property('ocrPages');
    }
    const { text } = await read([...Array(5).fill(cover), { text: 'Typed.' }], down);
    expect(text.match(/cover/g)).to.have.length(5);
    expect(remote.requests).to.have.length(3);
  });

  it('fail if it is down and one of them has no text, or there is none but that of stamps', async () => {
    const failed = { kind: 'failed', status: 502, code: 'ocr_failed', retryable: true };
    const stamped: ScanPage = { scan: ['The lease ends in March.'], stamp: 'Received 12 March' };
    for (const answer of [down, wait(3_600)]) {
      expect(await errorOf(read([stamped, { text: 'Typed.' }, ...scans(1)], answer))).to.include(failed);
      expect(await errorOf(read([stamped, stamped], answer))).to.include(failed);
    }
    expect(await errorOf(read([...Array(3).fill(stamped), { text: 'Typed.' }, ...scans(1)], down))).to.include(failed);
    expect(remote.requests).to.have.length(3);
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
