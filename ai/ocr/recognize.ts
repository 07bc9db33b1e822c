import type { Metadata } from 'sharp';
import sharp from 'sharp';
import { createWorker, OEM, type Worker } from 'tesseract.js';
import { late, within } from '../../concurrency/within.ts';
import { ServiceError } from '../service-error.ts';
import type { Recognized } from './task.ts';

/** No scanned page has more; a larger image may be a decompression bomb and is not decoded. */
const maxPixels = 60_000_000;
const readableFormats = new Set(['png', 'jpeg', 'tiff', 'webp']);
// Below about 150 dpi letters are too small for the engine.
const smallWidth = 1000;

// Every decoder that is not needed is an attack surface for hostile files.
sharp.block({ operation: ['VipsForeignLoad'] });
sharp.unblock({ operation: ['VipsForeignLoadPng', 'VipsForeignLoadJpeg', 'VipsForeignLoadTiff', 'VipsForeignLoadWebp'] });
sharp.cache(false);

/**
 * Turns an image into pages that the engine reads: PNG, grey, upright, on white. Each page is decoded when its function is called; only
 * a TIFF may have several. Throws ServiceError 415 `unreadable_image`, 413 `too_many_pages`.
 */
export async function preparePages(bytes: Uint8Array, maxPages: number): Promise<(() => Promise<Buffer>)[]> {
  const { pages: found = 1, width, format } = await readMetadata(bytes);
  const pages = format === 'tiff' ? found : 1;
  if (pages > maxPages) throw new ServiceError(413, 'too_many_pages', `The image has ${pages} pages; at most ${maxPages} are read.`);
  return Array.from({ length: pages }, (_, page) => () => preparePage(bytes, page, width));
}

async function readMetadata(bytes: Uint8Array): Promise<Metadata> {
  const metadata = await readable(() => sharp(bytes, { limitInputPixels: maxPixels }).metadata());
  if (!readableFormats.has(metadata.format)) throw unreadable();
  if (metadata.width * metadata.height > maxPixels) {
    throw new ServiceError(415, 'unreadable_image', 'The image has more pixels than can be read.');
  }
  return metadata;
}

function preparePage(bytes: Uint8Array, page: number, width: number): Promise<Buffer> {
  return readable(() => {
    const image = sharp(bytes, { page, limitInputPixels: maxPixels }).autoOrient().flatten({ background: 'white' }).greyscale();
    const enlarged = width < smallWidth ? image.resize({ width: width * 2, kernel: 'cubic' }) : image;
    return enlarged.png({ compressionLevel: 1 }).toBuffer();
  });
}

async function readable<T>(decode: () => Promise<T>): Promise<T> {
  try {
    return await decode();
  } catch {
    throw unreadable();
  }
}

/** The languages of this process, and the directory of their data: `<name>.traineddata.gz`. */
export interface LanguageData {
  languages: string[];
  directory: string;
}

let data: LanguageData | undefined;
let loading: Promise<Worker> | undefined;

/** Loads the engine and its languages, once per process (about half a second for each, no network). Rejects if data is missing. */
export function loadEngine(languages: LanguageData): Promise<Worker> {
  data = languages;
  loading ??= startEngine(languages);
  return loading;
}

function startEngine({ languages, directory }: LanguageData): Promise<Worker> {
  return createWorker(languages, OEM.LSTM_ONLY, {
    langPath: directory,
    gzip: true,
    cacheMethod: 'none',
    // Without a handler the engine throws outside of any promise; with one it rejects the call.
    errorHandler: () => {},
  });
}

/** Ends the engine, also in the midst of its work, which then never settles. */
export async function endEngine(): Promise<void> {
  const ended = loading;
  loading = undefined;
  await (await ended)?.terminate();
}

/** Recognizes the text of one image that the engine can decode (PNG). The engine must have been loaded. */
export async function recognize(image: Buffer): Promise<Recognized> {
  const engine = await loading;
  if (!engine) throw new Error('The engine is not loaded.');
  const { text, confidence } = (await engine.recognize(image)).data;
  return { text: text.trim(), confidence: text.trim() === '' ? null : Math.round(confidence) };
}

const longestTimerMs = 2 ** 31 - 1;

/** Recognizes as {@link recognize} does. Undefined if it takes longer than `withinMs`: it is given up. */
export async function tryToRecognize(image: Buffer, withinMs: number): Promise<Recognized | undefined> {
  const read = await within(Math.min(withinMs, longestTimerMs), recognize(image));
  if (read !== late) return read;
  await endEngine();
  // The next task waits for it, and gets its error if it fails.
  if (data) loadEngine(data).catch(() => {});
  return undefined;
}

/** Recognizes the text of a BMP, which the engine decodes itself. Throws ServiceError 415 `unreadable_image` when it cannot. */
export async function recognizeBmp(image: Buffer): Promise<Recognized> {
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
