import type { Metadata } from 'sharp';
import sharp from 'sharp';
import { ServiceError } from '../service-error.ts';

/** More pixels than any scanned page has; what unfolds to more is not decoded. */
export const maxPixels = 60_000_000;
const readableFormats = new Set(['png', 'jpeg', 'tiff', 'webp']);
// Letters of scans at less than about 150 dpi are too small for the engine.
const smallWidth = 1000;

// Only the decoders that are needed: each other one is a way in for a hostile file.
sharp.block({ operation: ['VipsForeignLoad'] });
sharp.unblock({ operation: ['VipsForeignLoadPng', 'VipsForeignLoadJpeg', 'VipsForeignLoadTiff', 'VipsForeignLoadWebp'] });
sharp.cache(false);

/**
 * Turns an image into pages that the engine reads: PNG, grey, upright, on white. A TIFF has as many pages as it holds. Throws
 * ServiceError 415 `unreadable_image`, 413 `too_many_pages`.
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

function unreadable(): ServiceError {
  return new ServiceError(415, 'unreadable_image', 'The image is damaged or is no image.');
}
