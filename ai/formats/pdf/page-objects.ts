import type { Box } from './page-box.ts';
import { scanThresholds } from './pdf-thresholds.ts';
import { type Pdfium, withMemory } from './pdfium.ts';

const { maxObjects, deepestForm } = scanThresholds;
export const objectTypes = { path: 2, image: 3, form: 5 };
const floatBytes = 4;

/** Moves (x, y) to (ax + cy + e, bx + dy + f). */
export interface Matrix {
  a: number;
  b: number;
  c: number;
  d: number;
  e: number;
  f: number;
}

const asItIs: Matrix = { a: 1, b: 0, c: 0, d: 1, e: 0, f: 0 };

/** An object of a page that is no form. */
export interface PageObject {
  object: number;
  type: number;
  /** What converts its coordinates to those of the page. */
  matrix(): Matrix;
  /** The box around it on the page, in points. */
  bounds(): Box;
}

/** The objects of a page that is loaded, also those of its forms, each of which has its own coordinates. */
export function objectsOf(pdfium: Pdfium, page: number): PageObject[] {
  const objects: PageObject[] = [];
  let left = maxObjects;
  const add = (count: number, objectAt: (index: number) => number, around: Matrix, depth: number): void => {
    for (let index = 0; index < count && left > 0; index += 1) {
      const object = objectAt(index);
      if (object === 0) continue;
      left -= 1;
      const type = pdfium.FPDFPageObj_GetType(object);
      const matrix = () => follow(matrixOf(pdfium, object), around);
      if (type !== objectTypes.form) objects.push({ object, type, matrix, bounds: () => move(boundsOf(pdfium, object), around) });
      else if (depth < deepestForm)
        add(pdfium.FPDFFormObj_CountObjects(object), (at) => pdfium.FPDFFormObj_GetObject(object, at), matrix(), depth + 1);
    }
  };
  add(pdfium.FPDFPage_CountObjects(page), (index) => pdfium.FPDFPage_GetObject(page, index), asItIs, 0);
  return objects;
}

const nowhere: Box = { left: 0, bottom: 0, right: 0, top: 0 };

function boundsOf(pdfium: Pdfium, object: number): Box {
  return withFloats(pdfium, 4, (at, floats) => {
    if (!pdfium.FPDFPageObj_GetBounds(object, at(0), at(1), at(2), at(3))) return nowhere;
    const [left = 0, bottom = 0, right = 0, top = 0] = floats();
    return { left, bottom, right, top };
  });
}

function matrixOf(pdfium: Pdfium, object: number): Matrix {
  return withFloats(pdfium, 6, (at, floats) => {
    if (!pdfium.FPDFPageObj_GetMatrix(object, at(0))) return asItIs;
    const [a = 1, b = 0, c = 0, d = 1, e = 0, f = 0] = floats();
    return { a, b, c, d, e, f };
  });
}

/** Numbers that PDFium writes to addresses. */
export function withFloats<T>(pdfium: Pdfium, count: number, read: (at: (place: number) => number, floats: () => Float32Array) => T): T {
  return withMemory(pdfium, count * floatBytes, (scratch) =>
    read(
      (place) => scratch + place * floatBytes,
      () => new Float32Array(pdfium.pdfium.HEAPU8.buffer, scratch, count),
    ),
  );
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
