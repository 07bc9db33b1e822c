import { bitmap, drawSmall, findLeaves, hide, type Leaf } from './hide-layers.ts';
import { unseenThresholds } from './pdf-thresholds.ts';
import { type Pdfium, withMemory } from './pdfium.ts';

const { mostCharacters, fewestGreys } = unseenThresholds;

/** From which pixel to before which one a character goes. */
type Place = { left: number; top: number; right: number; bottom: number };

/**
 * Keeps text that nobody sees from being read, on a page that is loaded: in the colour of what is below it, under a box, outside of its clip,
 * or invisible. The text that a scanner lays upon or below its picture stays. Returns whether there was such text.
 */
export function hideUnseen(pdfium: Pdfium, page: number, hasLayeredForms: boolean): boolean {
  const texts = findLeaves(pdfium, page, hasLayeredForms).filter(({ object, isText }) => isText && isActive(pdfium, object));
  const places = texts.length === 0 ? new Map<number, Place[]>() : findPlaces(pdfium, page);
  if (places.size === 0) return false;
  const show = (isShown: boolean) => {
    for (const { object } of texts) pdfium.FPDFPageObj_SetIsActive(object, isShown);
  };
  const shown = drawSmall(pdfium, page);
  show(false);
  const bare = drawSmall(pdfium, page);
  show(true);
  if (!shown || !bare) return false;
  const isUnseen = ({ object }: Leaf) => places.get(object)?.every((place) => isPlain(shown, place) && isSame(shown, bare, place)) ?? false;
  const unseen = texts.filter(isUnseen);
  for (const leaf of unseen) hide(pdfium, leaf);
  return unseen.length > 0;
}

function isActive(pdfium: Pdfium, object: number): boolean {
  return withMemory(pdfium, 4, (active) => pdfium.FPDFPageObj_GetIsActive(object, active) && pdfium.pdfium.HEAPU8[active] !== 0);
}

/** Where the characters of each text are. */
function findPlaces(pdfium: Pdfium, page: number): Map<number, Place[]> {
  const places = new Map<number, Place[]>();
  const textPage = pdfium.FPDFText_LoadPage(page);
  if (textPage === 0) return places;
  const count = pdfium.FPDFText_CountChars(textPage);
  withMemory(pdfium, 40, (scratch) => {
    for (let index = 0; index < count && count <= mostCharacters; index += 1) {
      const object = pdfium.FPDFText_GetTextObject(textPage, index);
      const place = object === 0 ? undefined : placeOf({ pdfium, page, textPage, scratch }, index);
      if (place) places.set(object, [...(places.get(object) ?? []), place]);
    }
  });
  pdfium.FPDFText_ClosePage(textPage);
  return places;
}

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
  return {
    left: Math.max(0, Math.min(x0, x1)),
    top: Math.max(0, Math.min(y0, y1)),
    right: Math.min(bitmap.width, Math.max(x0, x1) + 1),
    bottom: Math.min(bitmap.height, Math.max(y0, y1) + 1),
  };
}

function isPlain(pixels: Uint8Array, place: Place): boolean {
  const first = pixels[place.top * bitmap.width + place.left] ?? 0;
  return everyPixel(place, (at) => Math.abs((pixels[at] ?? 0) - first) < fewestGreys);
}

function isSame(one: Uint8Array, other: Uint8Array, place: Place): boolean {
  return everyPixel(place, (at) => Math.abs((one[at] ?? 0) - (other[at] ?? 0)) < fewestGreys);
}

function everyPixel({ left, top, right, bottom }: Place, test: (at: number) => boolean): boolean {
  for (let y = top; y < bottom; y += 1) for (let x = left; x < right; x += 1) if (!test(y * bitmap.width + x)) return false;
  return true;
}
