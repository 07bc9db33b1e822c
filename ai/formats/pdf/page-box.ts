import { type Pdfium, withMemory } from './pdfium.ts';

/** The lower left and the upper right corner, in points. */
export interface Box {
  left: number;
  bottom: number;
  right: number;
  top: number;
}

/** The part of a page that is shown: its crop box within its media box. Undefined if it has none. */
export function shownBoxOf(pdfium: Pdfium, page: number): Box | undefined {
  return withMemory(pdfium, 16, (scratch) => {
    if (!pdfium.FPDF_GetPageBoundingBox(page, scratch)) return undefined;
    const [left = 0, top = 0, right = 0, bottom = 0] = new Float32Array(pdfium.pdfium.HEAPU8.buffer, scratch, 4);
    return { left, bottom, right, top };
  });
}

/** Whether a place is within a box. */
export function isWithin({ left, bottom, right, top }: Box, x: number, y: number): boolean {
  return x >= left && x <= right && y >= bottom && y <= top;
}

/** A place or a direction on a page, as it is after so many quarters clockwise around the origin. */
export function turn([x, y]: [number, number], turns: number): [number, number] {
  if (turns === 1) return [y, -x];
  if (turns === 2) return [-x, -y];
  return turns === 3 ? [-y, x] : [x, y];
}

/** The same of a box. */
export function turnBox({ left, bottom, right, top }: Box, turns: number): Box {
  const [one, other] = [turn([left, bottom], turns), turn([right, top], turns)];
  const [xs, ys] = [
    [one[0], other[0]],
    [one[1], other[1]],
  ];
  return { left: Math.min(...xs), bottom: Math.min(...ys), right: Math.max(...xs), top: Math.max(...ys) };
}
