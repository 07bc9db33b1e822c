import type { PageViewport, PDFPageProxy } from 'pdfjs-dist';
import type { Box, Passage } from './messages.ts';

/** Where letters reach to below and above their line, as multiples of their size: most fonts have about that. */
const [below, above] = [0.25, 0.95];

/** A run of text, as the file has it. */
type TextItem = Extract<Awaited<ReturnType<PDFPageProxy['getTextContent']>>['items'][number], { str: string }>;

/** A letter with where it stands in its run of text, from 0 to 1. */
interface Letter {
  letter: string;
  item: TextItem;
  from: number;
  to: number;
}

/**
 * Marks a passage on the picture of a page, and scrolls to it. Letters and digits alone are compared, since blanks and signs of tables are the
 * reader's. Nothing is marked if the file has the passage not in one run: columns may come in another order.
 */
export async function markPassage(page: PDFPageProxy, viewport: PageViewport, canvas: HTMLCanvasElement, passage: Passage): Promise<void> {
  const context = canvas.getContext('2d');
  if (!context) return;
  context.globalCompositeOperation = 'multiply';
  context.fillStyle = '#ffe066';
  if (passage.boxes.length > 0) return markBoxes(context, canvas, passage.boxes);
  const { items } = await page.getTextContent();
  const letters = items.flatMap((item) => ('str' in item ? lettersOf(item) : []));
  const wanted = fold(passage.quote);
  const start = findNth(letters.map(({ letter }) => letter).join(''), wanted, countOf(fold(passage.before), wanted));
  const first = letters[start];
  if (!first) return;
  const runs = new Map<TextItem, { from: number; to: number }>();
  for (const { item, from, to } of letters.slice(start, start + wanted.length)) {
    const run = runs.get(item);
    runs.set(item, { from: Math.min(from, run?.from ?? from), to: Math.max(to, run?.to ?? to) });
  }
  context.save();
  context.setTransform(...(viewport.transform as [number, number, number, number, number, number]));
  for (const [item, run] of runs) fill(context, item, run);
  context.restore();
  const [, , , , x, y] = first.item.transform as number[];
  const [, top] = viewport.convertToViewportPoint(x as number, y as number) as [number, number];
  scrollToHeight(canvas, top);
}

/** Marks the lines that text recognition has read, and scrolls to the first. */
function markBoxes(context: CanvasRenderingContext2D, canvas: HTMLCanvasElement, boxes: Box[]): void {
  const { width: wide, height: high } = canvas;
  for (const { left, top, width, height } of boxes) context.fillRect(left * wide, top * high, width * wide, height * high);
  scrollToHeight(canvas, Math.min(...boxes.map(({ top }) => top)) * high);
}

function scrollToHeight(canvas: HTMLCanvasElement, top: number): void {
  scrollTo(0, (top * window.innerWidth) / canvas.width - window.innerHeight / 2);
}

/** Each as one UTF-16 unit, so that their places are indexes of their text. */
function lettersOf(item: TextItem): Letter[] {
  const signs = [...item.str];
  return signs.flatMap((sign, index) => {
    const [from, to] = [index / signs.length, (index + 1) / signs.length];
    const place = item.dir === 'rtl' ? { from: 1 - to, to: 1 - from } : { from, to };
    return fold(sign)
      .split('')
      .map((letter) => ({ letter, item, ...place }));
  });
}

function fold(text: string): string {
  return text
    .normalize('NFKD')
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]/gu, '');
}

function countOf(text: string, wanted: string): number {
  return wanted === '' ? 0 : text.split(wanted).length - 1;
}

/** The index of an occurrence, from 0; of the first if there are not so many, and -1 if there is none. */
function findNth(text: string, wanted: string, nth: number): number {
  if (wanted === '') return -1;
  let at = text.indexOf(wanted);
  const first = at;
  for (let passed = 0; passed < nth && at >= 0; passed += 1) at = text.indexOf(wanted, at + wanted.length);
  return at < 0 ? first : at;
}

/** Fills a part of a run of text, which may be turned, in the page's own coordinates. */
function fill(context: CanvasRenderingContext2D, { transform, width, height }: TextItem, { from, to }: { from: number; to: number }): void {
  const [a, b, c, d, x, y] = transform as [number, number, number, number, number, number];
  const [alongX, alongY] = [a, b].map((part) => (part / Math.hypot(a, b)) * width) as [number, number];
  const [upX, upY] = [c, d].map((part) => (part / Math.hypot(c, d)) * height) as [number, number];
  context.beginPath();
  for (const [along, up] of [
    [from, -below],
    [to, -below],
    [to, above],
    [from, above],
  ] as const)
    context.lineTo(x + along * alongX + up * upX, y + along * alongY + up * upY);
  context.fill();
}
