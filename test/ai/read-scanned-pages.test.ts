import { expect } from 'chai';
import { readScannedPages, type ScanProgress, type ScanReader } from '../../ai/formats/pdf/read-scanned-pages.ts';
import { ServiceError } from '../../ai/service-error.ts';

const never = new AbortController().signal;

/** Reads the scanned pages of a document, of which each has the text of its layer. `read` says what text recognition reads of each. */
function readPages(layers: string[], scanned: number[], read: (page: number) => Awaited<ReturnType<ScanReader['recognize']>>) {
  const told: ScanProgress[] = [];
  const reader: ScanReader = {
    render: async (index) => Uint8Array.of(index),
    recognize: async ({ bytes }) => read(bytes[0] ?? -1),
    deadline: { seconds: 60, endsAt: performance.now() + 60_000 },
    maxTextCharacters: 1_000,
    onProgress: (progress) => told.push(progress),
  };
  const found = {
    texts: layers,
    pages: layers.length,
    scanned,
    unmapped: [],
    pageNotices: layers.map(() => []),
    notices: [],
    attached: [],
    stoppedEarly: false,
  };
  return readScannedPages(found, reader, never).then((text) => ({ ...text, told }));
}

const recognized = (text: string, confidence: number | null = 95) => ({ text, pages: 1, pageTexts: [text], ocrConfidence: [confidence] });

describe('Pages of pictures that text recognition reads', () => {
  it('keep their own text, and do not count as read, if that is better', async () => {
    const junk = recognized('| fi 7 ~ vy Ao | 1l ; Wee', 35);
    const poor = await readPages(['Fig. 3', 'Typed.'], [0], () => junk);
    expect(poor).to.deep.include({ pageTexts: ['Fig. 3', 'Typed.'], ocrPages: 0, ocrConfidence: [null, null], stoppedEarly: false });
    expect(poor.told).to.deep.equal([{ read: 1, of: 1 }]);
    for (const [typed, shown] of [
      ['Received 12 March', '12'],
      ['The observatory stands on the eastern shoulder of Mount Sable.', 'The observatory stands on the eastem shoulder'],
    ] as const) {
      const less = await readPages([typed], [0], () => recognized(shown));
      expect(less).to.deep.include({ pageTexts: [typed], ocrPages: 0, ocrConfidence: [null], stoppedEarly: false });
    }
  });

  it('have what was recognized, and count as read, if they have none, or worse', async () => {
    const read = await readPages(['', 'Fig. 3', ''], [0, 1, 2], (page) =>
      recognized(['', 'The harbor', 'Ao'][page] ?? '', [null, 71, 20][page]),
    );
    expect(read).to.deep.include({ pageTexts: ['', 'The harbor\n\nFig. 3', 'Ao'], ocrPages: 3, ocrConfidence: [null, 71, 20] });
    // The remote text recognition does not say how sure it is, and may read a part of the page's own text wrongly.
    const both = await readPages(['Stamp 12\nPage 3'], [0], () => recognized('The lease.\nStarnp 12\nPage 3', null));
    expect(both.pageTexts).to.deep.equal(['The lease.\nStarnp 12\nPage 3\n\nStamp 12']);
  });

  it('are read after those without text if they have a stamp', async () => {
    const order: number[] = [];
    await readPages(['Received 12 March', '', 'Typed.', ''], [0, 1, 3], (page) => {
      order.push(page);
      return recognized('The lease.');
    });
    expect(order).to.deep.equal([1, 3, 0]);
  });

  it('stay without text if they are not read in time, and the text of the others says that it is not all', async () => {
    const slow = (page: number) => {
      if (page === 1) throw new ServiceError(502, 'ocr_timeout', 'It takes too long.', { ofDocument: true });
      return recognized(page === 0 ? 'The lease.' : 'Signed.');
    };
    const scans = await readPages(['', '', ''], [0, 1, 2], slow);
    expect(scans).to.deep.include({ text: 'The lease.\n\nSigned.', ocrPages: 2, stoppedEarly: true, ocrConfidence: [95, null, 95] });
    const typed = await readPages(['Typed.', ''], [1], slow);
    expect(typed).to.deep.include({ text: 'Typed.', ocrPages: 0, stoppedEarly: true });
    const nothing = await readPages(['', ''], [1], slow).catch((error: unknown) => error);
    expect(nothing).to.include({ status: 502, code: 'ocr_timeout' });
  });
});
