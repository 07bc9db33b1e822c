import { decode } from 'bmp-ts';
import type { Metadata } from 'sharp';
import sharp, { type Sharp } from 'sharp';
import { ServiceError } from '../service-error.ts';
import type { Picture } from './picture.ts';

/** A page of A4 in black and white at 1,200 dots per inch has 140 million; a larger image may be a decompression bomb and is not decoded. */
const maxPixels = 150_000_000;
/** Maximum of a decoded page: a larger one is made smaller, and read as well. A page of A3 at 300 dots per inch has 17 million. */
const maxDecoded = 18_000_000;
/** Fewer, because a BMP is unpacked to four bytes for each. */
const maxBmpPixels = 60_000_000;
/** Levels above it are light. */
const middle = 128;
const readableFormats = new Set(['png', 'jpeg', 'tiff', 'webp']);

// Every decoder that is not needed is an attack surface for hostile files.
sharp.block({ operation: ['VipsForeignLoad'] });
sharp.unblock({ operation: ['VipsForeignLoadPng', 'VipsForeignLoadJpeg', 'VipsForeignLoadTiff', 'VipsForeignLoadWebp'] });
sharp.cache(false);

/**
 * The pages of an image, as its EXIF turns them. Each is decoded when its function is called; only a TIFF may have several.
 * Throws ServiceError 415 `unreadable_image`, 413 `too_many_pages`.
 */
export async function decodeImage(bytes: Uint8Array, maxPages: number): Promise<(() => Promise<Picture>)[]> {
  const { pages: found = 1, format } = await readMetadata(bytes);
  const pages = format === 'tiff' ? found : 1;
  if (pages > maxPages) throw new ServiceError(413, 'too_many_pages', `The image has ${pages} pages; at most ${maxPages} are read.`);
  return Array.from({ length: pages }, (_, page) => () => decodePage(bytes, page));
}

async function readMetadata(bytes: Uint8Array): Promise<Metadata> {
  const metadata = await readable(() => sharp(bytes, { limitInputPixels: maxPixels }).metadata());
  if (!readableFormats.has(metadata.format)) throw unreadable();
  return withinPixels(metadata);
}

function decodePage(bytes: Uint8Array, page: number): Promise<Picture> {
  return readable(async () => {
    // Pages of one file differ in size.
    const { width, height } = withinPixels(await sharp(bytes, { page, limitInputPixels: maxPixels }).metadata());
    const image = sharp(bytes, { page, limitInputPixels: maxPixels }).autoOrient();
    const factor = Math.sqrt(maxDecoded / (width * height));
    const longer = Math.round(Math.max(width, height) * factor);
    return await toPicture(factor < 1 ? image.resize({ width: longer, height: longer, fit: 'inside' }) : image);
  });
}

function withinPixels(metadata: Metadata): Metadata {
  if (metadata.width * metadata.height <= maxPixels) return metadata;
  throw new ServiceError(415, 'unreadable_image', 'The image has more pixels than can be read.');
}

async function readable<T>(decode: () => Promise<T>): Promise<T> {
  try {
    return await decode();
  } catch (error) {
    throw error instanceof ServiceError ? error : unreadable();
  }
}

function unreadable(): ServiceError {
  return new ServiceError(415, 'unreadable_image', 'The image is damaged or is no image.');
}

/** Decodes a pipeline of sharp. What is transparent becomes white, or black below light print. */
async function toPicture(image: Sharp): Promise<Picture> {
  const { data, info } = await image.toColourspace('srgb').ensureAlpha().raw({ depth: 'uchar' }).toBuffer({ resolveWithObject: true });
  const pixels = info.width * info.height;
  let [light, shown] = [0, 0];
  for (let at = 0; at < data.length; at += 4) {
    const alpha = data[at + 3] as number;
    light += alpha * (data[at + 1] as number);
    shown += alpha;
  }
  const ground = light > middle * shown ? 0 : 255;
  const flat = new Uint8Array(pixels * 3);
  for (let at = 0; at < pixels; at += 1) {
    const alpha = (data[at * 4 + 3] as number) / 255;
    for (let channel = 0; channel < 3; channel += 1) {
      flat[at * 3 + channel] = Math.round((data[at * 4 + channel] as number) * alpha + ground * (1 - alpha));
    }
  }
  return { data: flat, width: info.width, height: info.height };
}

/** The pixels of a BMP. Throws ServiceError 415 `unreadable_image`. */
export function decodeBmp(bytes: Uint8Array): Promise<Picture> {
  const file = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const pixels = file.length >= 26 ? file.readInt32LE(18) * Math.abs(file.readInt32LE(22)) : 0;
  if (file.toString('latin1', 0, 2) !== 'BM' || pixels <= 0 || pixels > maxBmpPixels) throw unreadable();
  return readable(async () => {
    const { data, width, height } = decode(file, { toRGBA: true });
    const image = sharp(data, { raw: { width, height, channels: 4 } });
    // What a BMP has in place of transparency is often nothing at all.
    return await toPicture(image.removeAlpha());
  });
}
