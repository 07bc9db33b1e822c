import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Worker } from 'tesseract.js';
import { createWorker, OEM } from 'tesseract.js';
import { ServiceError } from '../service-error.ts';

let loading: Promise<Worker> | undefined;

/** Loads the engine and its English model from the installed package, once per process (about half a second, no network). */
export function loadEngine(): Promise<Worker> {
  loading ??= createWorker('eng', OEM.LSTM_ONLY, {
    langPath: join(dirname(fileURLToPath(import.meta.resolve('@tesseract.js-data/eng'))), '4.0.0_best_int'),
    gzip: true,
    cacheMethod: 'none',
    // Without a handler the engine throws outside every promise; with one it rejects the call.
    errorHandler: () => {},
  });
  return loading;
}

/** Recognizes the text of one image (PNG or BMP). Throws ServiceError 415 `unreadable_image` when the engine cannot decode it. */
export async function recognize(image: Buffer): Promise<string> {
  const engine = await loadEngine();
  try {
    return (await engine.recognize(image)).data.text.trim();
  } catch (error) {
    if (!/read image/i.test(String(error))) throw error;
    throw new ServiceError(415, 'unreadable_image', 'The image is damaged or is no image.');
  }
}
