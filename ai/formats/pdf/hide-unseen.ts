import { bitmap, channels, drawSmall, findLeaves, hide, type Leaf } from './hide-layers.ts';
import type { PageObject } from './page-objects.ts';
import { unseenThresholds } from './pdf-thresholds.ts';
import { type Pdfium, withMemory } from './pdfium.ts';
import { isCovered } from './scanned-page.ts';

const { maxCharacters, minLevels } = unseenThresholds;

/** From which pixel to before which one a character goes. */
type Place = { left: number; top: number; right: number; bottom: number };

/**
 * Keeps text that nobody sees from being read, on a page that is loaded: in the colour of what is below it, under a box, outside of its clip,
 * or invisible. The text that a scanner lays upon or below its picture stays: a page that pictures
 * cover is left as it is. Returns whether there was such text.
 */
export function hideUnseen(
  pdfium: Pdfium,
  page: number,
  { hasLayeredForms, objects }: { hasLayeredForms: boolean; objects: PageObject[] },
): boolean {
  const texts = findLeaves(pdfium, page, hasLayeredForms).filter(({ object, isText }) => isText && isActive(pdfium, object));
  if (texts.length === 0 || isCovered(pdfium, page, objects)) return false;
  const places = findPlaces(pdfium, page);
  if (places.size === 0) return false;
  const show = (isShown: boolean) => {
    for (const { object } of texts) pdfium.FPDFPageObj_SetIsActive(object, isShown);
  };
  const shown = drawSmall(pdfium, page);
  show(false);
  const bare = drawSmall(pdfium, page);
  show(true);
  if (!shown || !bare) return false;
  const isNothing = (place: Place) => isPlain(shown, place) && isSame(shown, bare, place);
  const isUnseen = ({ object }: Leaf) => places.get(object)?.map(widen).every(isNothing) ?? false;
  const unseen = texts.filter(isUnseen);
  for (const leaf of unseen) hide(pdfium, leaf);
  return unseen.length > 0;
}

function isActive(pdfium: Pdfium, object: number): boolean {
  return withMemory(pdfium, 4, (active) => pdfium.FPDFPageObj_GetIsActive(object, active) && pdfium.pdfium.HEAPU8[active] !== 0);
}

/** Where the characters of each text are, but for blanks. */
function findPlaces(pdfium: Pdfium, page: number): Map<number, Place[]> {
  const places = new Map<number, Place[]>();
  const textPage = pdfium.FPDFText_LoadPage(page);
  if (textPage === 0) return places;
  const count = pdfium.FPDFText_CountChars(textPage);
  withMemory(pdfium, 40, (scratch) => {
    for (let index = 0; index < count && count <= maxCharacters; index += 1) {
      if (/\s/.test(String.fromCharCode(pdfium.FPDFText_GetUnicode(textPage, index)))) continue;
      const object = pdfium.FPDFText_GetTextObject(textPage, index);
      const place = object === 0 ? undefined : placeOf({ pdfium, page, textPage, scratch }, index);
      if (place && places.get(object)?.push(place) === undefined) places.set(object, [place]);
    }
  });
  pdfium.FPDFText_ClosePage(textPage);
  return places;
}

/** Undefined if the character is too small to be judged. */
function placeOf(
  { pdfium, page, textPage, scratch }: { pdfium: Pdfium; page: number; textPage: number; scratch: number },
  index: number,
): Place | undefined {
  if (!pdfium.FPDFText_GetCharBox(textPage, index, scratch, scratch + 8, scratch + 16, scratch + 24)) return undefined;
  const [left = 0, right = 0, bottom = 0, top = 0] = new Float64Array(pdfium.pdfium.HEAPU8.buffer, scratch, 4);
  if (right <= left || top <= bottom) return undefined;
  const toPixel = (x: number, y: number) => {
    pdfium.FPDF_PageToDevice(page, 0, 0, bitmap.width, bitmap.height, 0, x, y, scratch + 32, scratch + 36);
    return [...new Int32Array(pdfium.pdfium.HEAPU8.buffer, scratch + 32, 2)] as [number, number];
  };
  const [[x0, y0], [x1, y1]] = [toPixel(left, top), toPixel(right, bottom)];
  if (x0 === x1 || y0 === y1) return undefined;
  return { left: Math.min(x0, x1), top: Math.min(y0, y1), right: Math.max(x0, x1) + 1, bottom: Math.max(y0, y1) + 1 };
}

/** Ink may fall a pixel beside the place of its character. */
function widen({ left, top, right, bottom }: Place): Place {
  return {
    left: Math.max(0, left - 1),
    top: Math.max(0, top - 1),
    right: Math.min(bitmap.width, right + 1),
    bottom: Math.min(bitmap.height, bottom + 1),
  };
}

function isPlain(pixels: Uint8Array, place: Place): boolean {
  const first = (place.top * bitmap.width + place.left) * channels;
  return everyLevel(place, (at, channel) => isNear(pixels[at], pixels[first + channel]));
}

function isSame(one: Uint8Array, other: Uint8Array, place: Place): boolean {
  return everyLevel(place, (at) => isNear(one[at], other[at]));
}

function isNear(one = 0, other = 0): boolean {
  return Math.abs(one - other) < minLevels;
}

function everyLevel({ left, top, right, bottom }: Place, test: (at: number, channel: number) => boolean): boolean {
  for (let y = top; y < bottom; y += 1) {
    const [start, end] = [(y * bitmap.width + left) * channels, (y * bitmap.width + right) * channels];
    for (let at = start; at < end; at += 1) if (!test(at, (at - start) % channels)) return false;
  }
  return true;
}
