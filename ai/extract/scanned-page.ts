import { type Pdfium, withMemory } from './pdfium.ts';

/** Stamps of faxes, numbers of pages and ids of signatures are shorter, what somebody wrote on a page is longer. */
const mostOfStamps = 150;
/** How much of a page its pictures cover if it is a scan: some leave out a margin. */
const leastCovered = 0.75;
const objectTypes = { image: 3, form: 5 };
const floatBytes = 4;
/** No scan is made of more pieces. */
const mostObjects = 5_000;
const mostInForm = 100;
const deepestForm = 3;

/** The lower left and the upper right corner, in points. */
interface Box {
  left: number;
  bottom: number;
  right: number;
  top: number;
}

/**
 * Whether a page that is loaded is a picture of text, as far as it can be known without recognizing it: it shows something but has no text,
 * or has only the text of stamps upon pictures that cover most of it.
 */
export function isScanned(pdfium: Pdfium, page: number, text: string): boolean {
  const objects = pdfium.FPDFPage_CountObjects(page);
  if (text === '') return objects > 0;
  if (text.replace(/\s/g, '').length >= mostOfStamps) return false;
  return withMemory(pdfium, 4 * floatBytes, (scratch) => coveredByPictures(pdfium, { page, objects, scratch }) >= leastCovered);
}

/** The share of a page that its pictures cover, each counted for itself. */
function coveredByPictures(pdfium: Pdfium, { page, objects, scratch }: { page: number; objects: number; scratch: number }): number {
  const float = (index: number) => new DataView(pdfium.pdfium.HEAPU8.buffer).getFloat32(scratch + index * floatBytes, true);
  if (!pdfium.FPDF_GetPageBoundingBox(page, scratch)) return 0;
  const whole: Box = { left: float(0), top: float(1), right: float(2), bottom: float(3) };
  let covered = 0;
  for (let index = 0; index < Math.min(objects, mostObjects); index += 1) {
    const object = pdfium.FPDFPage_GetObject(page, index);
    if (object === 0 || !holdsPicture(pdfium, object)) continue;
    const [left, bottom, right, top] = [0, 1, 2, 3].map((place) => scratch + place * floatBytes) as [number, number, number, number];
    if (!pdfium.FPDFPageObj_GetBounds(object, left, bottom, right, top)) continue;
    covered += areaOf(common(whole, { left: float(0), bottom: float(1), right: float(2), top: float(3) }));
  }
  return covered / Math.max(1, areaOf(whole));
}

function holdsPicture(pdfium: Pdfium, object: number, depth = 0): boolean {
  const type = pdfium.FPDFPageObj_GetType(object);
  if (type === objectTypes.image) return true;
  if (type !== objectTypes.form || depth === deepestForm) return false;
  const count = Math.min(mostInForm, pdfium.FPDFFormObj_CountObjects(object));
  return Array.from({ length: count }, (_, index) => pdfium.FPDFFormObj_GetObject(object, index)).some(
    (inner) => inner !== 0 && holdsPicture(pdfium, inner, depth + 1),
  );
}

function common(one: Box, other: Box): Box {
  return {
    left: Math.max(one.left, other.left),
    bottom: Math.max(one.bottom, other.bottom),
    right: Math.min(one.right, other.right),
    top: Math.min(one.top, other.top),
  };
}

function areaOf({ left, bottom, right, top }: Box): number {
  return Math.max(0, right - left) * Math.max(0, top - bottom);
}
