import type { Pdfium } from './pdfium.ts';

const paragraphGap = 1.35;
const headingRatio = 1.1;
const boldWeight = 600;

interface Line {
  text: string;
  /** Baseline above the page's lower edge and font size, in points; undefined where PDFium does not tell. */
  y: number | undefined;
  size: number | undefined;
  /** Set in bold from its first to its last character. */
  bold: boolean;
}

/**
 * The text of a page in reading order, lines as they stand on the page, with an empty line where the page shows a gap or the
 * type changes: PDF has no paragraphs, and sentences and chunks need their ends.
 */
export function layOutPage(pdfium: Pdfium, textPage: number): string {
  const lines = readLines(pdfium, textPage);
  const usualStep = median(lines.map((line, index) => stepBetween(lines[index - 1], line)));
  let text = '';
  for (const [index, line] of lines.entries()) {
    if (line.text === '') continue;
    if (text !== '') text += startsParagraph(lines[index - 1], line, usualStep) ? '\n\n' : '\n';
    text += line.text;
  }
  return text;
}

function readLines(pdfium: Pdfium, textPage: number): Line[] {
  const lines: Line[] = [];
  let offset = 0;
  const place = pdfium.pdfium.wasmExports.malloc(16);
  try {
    for (const raw of readText(pdfium, textPage).split('\r\n')) {
      const hasOrigin = pdfium.FPDFText_GetCharOrigin(textPage, offset, place, place + 8);
      lines.push({
        text: raw.trim(),
        y: hasOrigin ? readDouble(pdfium, place + 8) : undefined,
        size: hasOrigin ? pdfium.FPDFText_GetFontSize(textPage, offset) : undefined,
        bold: isBold(pdfium, textPage, offset) && isBold(pdfium, textPage, offset + raw.trimEnd().length - 1),
      });
      offset += raw.length + 2;
    }
  } finally {
    pdfium.pdfium.wasmExports.free(place);
  }
  return lines;
}

function isBold(pdfium: Pdfium, textPage: number, index: number): boolean {
  return pdfium.FPDFText_GetFontWeight(textPage, index) >= boldWeight;
}

function readText(pdfium: Pdfium, textPage: number): string {
  const count = pdfium.FPDFText_CountChars(textPage);
  if (count <= 0) return '';
  const buffer = pdfium.pdfium.wasmExports.malloc((count + 1) * 2);
  try {
    const written = pdfium.FPDFText_GetText(textPage, 0, count, buffer);
    const heap = pdfium.pdfium.HEAPU8;
    return Buffer.from(heap.buffer, buffer, Math.max(0, written - 1) * 2).toString('utf16le');
  } finally {
    pdfium.pdfium.wasmExports.free(buffer);
  }
}

function readDouble(pdfium: Pdfium, address: number): number {
  const heap = pdfium.pdfium.HEAPU8;
  return new DataView(heap.buffer).getFloat64(address, true);
}

/** How far down the page a line is from the one before; undefined for the top of a column. */
function stepBetween(previous: Line | undefined, line: Line): number | undefined {
  if (previous?.y === undefined || line.y === undefined) return undefined;
  const step = previous.y - line.y;
  return step > 0.5 ? step : undefined;
}

function startsParagraph(previous: Line | undefined, line: Line, usualStep: number | undefined): boolean {
  const step = stepBetween(previous, line);
  if (previous === undefined || step === undefined) return false;
  if (usualStep !== undefined && step > usualStep * paragraphGap) return true;
  if (previous.bold !== line.bold) return true;
  const [small = 0, large = 0] = [previous.size ?? 0, line.size ?? 0].sort((a, b) => a - b);
  return small > 0 && large > small * headingRatio;
}

function median(values: (number | undefined)[]): number | undefined {
  const known = values.filter((value) => value !== undefined).sort((a, b) => a - b);
  return known[Math.floor(known.length / 2)];
}
