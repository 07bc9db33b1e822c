import { type Box, isWithin, shownBoxOf } from './page-box.ts';
import type { Line } from './page-line.ts';
import { objectTypes, type PageObject } from './page-objects.ts';
import { scanThresholds } from './pdf-thresholds.ts';
import type { Pdfium } from './pdfium.ts';

const { maxOfStamps, minCovered, half, minOfPicture, maxLettersBeside } = scanThresholds;

/**
 * Whether a page that is loaded has a picture of text, as far as it can be known without recognizing it: it shows something but has no text, or
 * its pictures cover much of it, hardly any of its text stands on them, and not much beside them.
 */
export function isScanned(pdfium: Pdfium, page: number, { objects, lines }: { objects: PageObject[]; lines: Line[] }): boolean {
  const letters = lettersIn(lines);
  if (letters === 0) return pdfium.FPDFPage_CountObjects(page) > 0;
  const { pictures, covered } = findPictures(pdfium, page, objects);
  if (letters < maxOfStamps && covered >= minCovered) return true;
  const isOn = ({ x, y }: Line) => x === undefined || y === undefined || pictures.some((box) => isWithin(box, x, y));
  const on = lettersIn(lines.filter(isOn));
  return on < maxOfStamps && (covered >= half || (covered >= minOfPicture && letters - on < maxLettersBeside));
}

/** Whether the pictures of a page that is loaded cover as much of it as a scan does. */
export function isCovered(pdfium: Pdfium, page: number, objects: PageObject[]): boolean {
  return findPictures(pdfium, page, objects).covered >= minCovered;
}

function lettersIn(lines: Line[]): number {
  return lines.reduce((sum, { text }) => sum + text.replace(/\s/g, '').length, 0);
}

/** The pictures of a page, and the fraction of it that they cover; overlaps count twice. */
function findPictures(pdfium: Pdfium, page: number, objects: PageObject[]): { pictures: Box[]; covered: number } {
  const whole = shownBoxOf(pdfium, page);
  if (!whole) return { pictures: [], covered: 0 };
  const pictures = objects.flatMap(({ type, bounds }) => (type === objectTypes.image ? [common(whole, bounds())] : []));
  return { pictures, covered: pictures.reduce((sum, box) => sum + areaOf(box), 0) / Math.max(1, areaOf(whole)) };
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
