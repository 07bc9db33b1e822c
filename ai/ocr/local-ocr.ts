import type { AiServiceConfig } from '../../config/ai-service.ts';
import type { RawText } from '../extract/types.ts';
import type { ProcessPool } from '../pool/process-pool.ts';
import { TaskFailure } from '../pool/protocol.ts';
import { ServiceError } from '../service-error.ts';
import type { OcrBackend } from './ocr-backend.ts';
import { ocrTimeout, requireType } from './ocr-backend.ts';

const types = new Set(['image/png', 'image/jpeg', 'image/tiff', 'image/bmp', 'image/webp']);

/** OCR on this machine, in processes of its own that can be killed at any moment. */
export function createLocalOcr(pool: ProcessPool, config: AiServiceConfig): OcrBackend {
  const { maxPdfPages: maxPages, maxTextCharacters, ocrTimeoutMs, extractTimeoutMs } = config;
  return {
    name: 'local',
    async read(image, signal) {
      requireType(image, types);
      const payload = { bytes: image.bytes, mediaType: image.mediaType, maxPages, maxTextCharacters };
      try {
        return await pool.run<RawText>('ocr', payload, { timeoutMs: Math.min(ocrTimeoutMs, extractTimeoutMs), signal });
      } catch (error) {
        if (!(error instanceof TaskFailure)) throw error;
        if (error.reason === 'timeout') throw ocrTimeout(ocrTimeoutMs, extractTimeoutMs);
        if (error.reason === 'memory') throw new ServiceError(415, 'unreadable_image', 'The image needs more memory than it may use.');
        throw new ServiceError(502, 'ocr_failed', 'The text of the image could not be recognized.', { cause: error });
      }
    },
  };
}
