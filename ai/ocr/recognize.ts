import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Worker } from 'tesseract.js';
import { createWorker, OEM } from 'tesseract.js';
import { ServiceError } from '../service-error.ts';
import { maxPixels } from './prepare-pages.ts';

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

/** Recognizes the text of one image that the engine can decode (PNG). */
export async function recognize(image: Buffer): Promise<string> {
  const engine = await loadEngine();
  return (await engine.recognize(image)).data.text.trim();
}

/** Recognizes the text of a BMP, which the engine decodes itself. Throws ServiceError 415 `unreadable_image` when it cannot. */
export async function recognizeBmp(image: Buffer): Promise<string> {
  const pixels = image.length >= 26 ? image.readInt32LE(18) * Math.abs(image.readInt32LE(22)) : 0;
  if (image.toString('latin1', 0, 2) !== 'BM' || pixels <= 0 || pixels > maxPixels) throw unreadable();
  try {
    return await recognize(image);
  } catch {
    throw unreadable();
  }
}

function unreadable(): ServiceError {
  return new ServiceError(415, 'unreadable_image', 'The image is damaged or is no image.');
}
