import { expect } from 'chai';
import { createLocalOcr } from '../../ai/recognition/backends.ts';
import { TaskFailure, type TaskFailureReason } from '../../ai/sandbox/protocol.ts';

const config = { maxPdfPages: 10, maxTextCharacters: 1_000, ocrTimeoutMs: 60_000, extractTimeoutMs: 75_000 };
const never = new AbortController().signal;
const image = (mediaType = 'image/png') => ({ bytes: Uint8Array.of(1), mediaType, charset: undefined });

describe('The local text recognition', () => {
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
