import { expect } from 'chai';
import { createLocalOcr } from '../../ai/ocr/backends.ts';
import { ProcessPool } from '../../ai/pool/process-pool.ts';
import { TaskFailure, type TaskFailureReason } from '../../ai/pool/protocol.ts';

const config = { maxPdfPages: 10, maxTextCharacters: 1_000, ocrTimeoutMs: 60_000, extractTimeoutMs: 75_000 };
const never = new AbortController().signal;
const image = (mediaType = 'image/png') => ({ bytes: Uint8Array.of(1), mediaType, charset: undefined });

describe('The local text recognition', () => {
  it('counts the wait for a process to the time that is left', async () => {
    const entry = new URL('./support/waiting-child.ts', import.meta.url);
    const pool = new ProcessPool({ entry, size: 1, heapMegabytes: 64, memoryBytes: 512 * 2 ** 20 });
    try {
      const { read } = createLocalOcr(pool, config);
      const [first, second, whole] = await Promise.all([
        read(image('image/tiff'), never, 50_000),
        read(image(), never, 50_000),
        read(image(), never),
      ]);
      // The clocks of the processes are as exact as a millisecond.
      expect(Number(first.text) - Number(second.text)).to.be.at.least(990);
      expect(Number(first.text)).to.be.at.most(50_000);
      // Nobody waits for the last one.
      expect(Number(whole.text)).to.be.within(59_990, 60_000);
    } finally {
      await pool.close();
    }
  });

  /** How the reading of an image fails if its task ends for a reason. */
  const failure = (reason: TaskFailureReason, timeouts = {}) => {
    const run = () => Promise.reject(new TaskFailure(reason, 'The task has no result.'));
    return createLocalOcr({ run }, { ...config, ...timeouts })
      .read(image(), never)
      .catch((error: unknown) => error);
  };

  it('blames an image that takes too long, or ends its process, though another attempt may read it', async () => {
    const message = 'The text of the image was not recognized within 60 seconds.';
    expect(await failure('timeout')).to.include({ status: 502, code: 'ocr_timeout', ofDocument: true, message });
    expect(await failure('crash')).to.include({ status: 502, code: 'ocr_failed', ofDocument: true });
  });

  it('refuses an image for good that needs too much memory, or more time than any document has', async () => {
    for (const reason of ['memory', 'deadly'] as const)
      expect(await failure(reason)).to.include({ status: 415, code: 'unreadable_image', ofDocument: true });
    const message = 'The image could not be read within 30 seconds.';
    expect(await failure('timeout', { extractTimeoutMs: 30_000 })).to.include({ status: 408, code: 'extract_timeout', message });
  });

  it('blames no image for what happens to the processes', async () => {
    for (const reason of ['killed', 'unavailable'] as const)
      expect(await failure(reason)).to.include({ status: 502, code: 'ocr_failed', ofDocument: false });
  });
});
