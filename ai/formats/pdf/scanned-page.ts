import { type Box, isWithin, shownBoxOf } from './page-box.ts';
import type { Line } from './page-line.ts';
import { scanThresholds } from './pdf-thresholds.ts';
import { type Pdfium, withMemory } from './pdfium.ts';

const { maxOfStamps, minCovered, half, minOfPicture, maxLettersBeside, maxObjects, deepestForm } = scanThresholds;
const objectTypes = { image: 3, form: 5 };
const floatBytes = 4;

/** Moves (x, y) to (ax + cy + e, bx + dy + f). */
interface Matrix {
  a: number;
  b: number;
  c: number;
  d: number;
  e: number;
  f: number;
}

const asItIs: Matrix = { a: 1, b: 0, c: 0, d: 1, e: 0, f: 0 };

/**
 * Whether a page that is loaded has a picture of text, as far as it can be known without recognizing it: it shows something but has no text, or
 * its pictures cover much of it, hardly any of its text stands on them, and not much beside them.
 */
export function isScanned(pdfium: Pdfium, page: number, lines: Line[]): boolean {
  const objects = pdfium.FPDFPage_CountObjects(page);
  const letters = lettersIn(lines);
  if (letters === 0) return objects > 0;
  const { pictures, covered } = findPictures(pdfium, page, objects);
  if (letters < maxOfStamps && covered >= minCovered) return true;
  const isOn = ({ x, y }: Line) => x === undefined || y === undefined || pictures.some((box) => isWithin(box, x, y));
  const on = lettersIn(lines.filter(isOn));
  return on < maxOfStamps && (covered >= half || (covered >= minOfPicture && letters - on < maxLettersBeside));
}

/** Whether the pictures of a page that is loaded cover as much of it as a scan does. */
export function isCovered(pdfium: Pdfium, page: number): boolean {
  return findPictures(pdfium, page, pdfium.FPDFPage_CountObjects(page)).covered >= minCovered;
}

function lettersIn(lines: Line[]): number {
  return lines.reduce((sum, { text }) => sum + text.replace(/\s/g, '').length, 0);
}

/** The pictures of a page, and the fraction of it that they cover; overlaps count twice. */
function findPictures(pdfium: Pdfium, page: number, objects: number): { pictures: Box[]; covered: number } {
  const whole = shownBoxOf(pdfium, page);
  if (!whole) return { pictures: [], covered: 0 };
  return withMemory(pdfium, 6 * floatBytes, (scratch) => {
    const floats = () => Array.from(new Float32Array(pdfium.pdfium.HEAPU8.buffer, scratch, 6));
    const objectAt = (index: number) => pdfium.FPDFPage_GetObject(page, index);
    const search = { pdfium, scratch, floats, whole, objectsLeft: maxObjects };
    const pictures = picturesAmong(search, { count: objects, objectAt }, asItIs);
    return { pictures, covered: pictures.reduce((sum, box) => sum + areaOf(box), 0) / Math.max(1, areaOf(whole)) };
  });
}

interface Search {
  pdfium: Pdfium;
  /** The address of six numbers, which `floats` reads. */
  scratch: number;
  floats(): number[];
  whole: Box;
  /** How many more objects are looked at. */
  objectsLeft: number;
}

/** The objects of a page or of a form. */
interface Objects {
  count: number;
  objectAt(index: number): number;
}

/**
 * Where the pictures among some objects stand on the page, in points. A form has its own coordinates; `matrix` converts them to those of the
 * page.
 */
function picturesAmong(search: Search, { count, objectAt }: Objects, matrix: Matrix, depth = 0): Box[] {
  const { pdfium } = search;
  const pictures: Box[] = [];
  for (let index = 0; index < count && search.objectsLeft > 0; index += 1) {
    const object = objectAt(index);
    if (object === 0) continue;
    search.objectsLeft -= 1;
    const type = pdfium.FPDFPageObj_GetType(object);
    if (type === objectTypes.image) pictures.push(common(search.whole, move(boundsOf(search, object), matrix)));
    if (type !== objectTypes.form || depth === deepestForm) continue;
    const inner = { count: pdfium.FPDFFormObj_CountObjects(object), objectAt: (at: number) => pdfium.FPDFFormObj_GetObject(object, at) };
    pictures.push(...picturesAmong(search, inner, follow(matrixOf(search, object), matrix), depth + 1));
  }
  return pictures;
}

const nowhere: Box = { left: 0, bottom: 0, right: 0, top: 0 };

function boundsOf({ pdfium, scratch, floats }: Search, object: number): Box {
  const [left, bottom, right, top] = [0, 1, 2, 3].map((place) => scratch + place * floatBytes) as [number, number, number, number];
  if (!pdfium.FPDFPageObj_GetBounds(object, left, bottom, right, top)) return nowhere;
  const [l = 0, b = 0, r = 0, t = 0] = floats();
  return { left: l, bottom: b, right: r, top: t };
}

function matrixOf({ pdfium, scratch, floats }: Search, form: number): Matrix {
  if (!pdfium.FPDFPageObj_GetMatrix(form, scratch)) return asItIs;
  const [a = 1, b = 0, c = 0, d = 1, e = 0, f = 0] = floats();
  return { a, b, c, d, e, f };
}

/** The matrix that moves by one and then by the other. */
function follow(one: Matrix, other: Matrix): Matrix {
  return {
    a: one.a * other.a + one.b * other.c,
    b: one.a * other.b + one.b * other.d,
    c: one.c * other.a + one.d * other.c,
    d: one.c * other.b + one.d * other.d,
    e: one.e * other.a + one.f * other.c + other.e,
    f: one.e * other.b + one.f * other.d + other.f,
  };
}

/** The box around what a box becomes. */
function move({ left, bottom, right, top }: Box, { a, b, c, d, e, f }: Matrix): Box {
  const xs = [left, right].flatMap((x) => [bottom, top].map((y) => a * x + c * y + e));
  const ys = [left, right].flatMap((x) => [bottom, top].map((y) => b * x + d * y + f));
  return { left: Math.min(...xs), bottom: Math.min(...ys), right: Math.max(...xs), top: Math.max(...ys) };
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
