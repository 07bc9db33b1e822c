import { type Pdfium, readBaseline, readPageText } from './pdfium.ts';

const lineEnd = '\r\n';
const paragraphGap = 1.35;
const headingRatio = 1.1;
const boldWeight = 600;

/** A line of a page, as it stands in the order of reading. */
export interface Line {
  text: string;
  /** Baseline above the page's lower edge and font size, in points; undefined if PDFium does not know them. */
  y: number | undefined;
  size: number | undefined;
  /** Set in bold from its first to its last character. */
  bold: boolean;
}

/**
 * The text of a page from its lines, with its line breaks. PDF has no paragraphs, but splitting into sentences and chunks needs
 * them, so an empty line is inserted at each wider gap and each change of font size or weight.
 */
export function layOutLines(lines: Line[]): string {
  const usualStep = median(lines.map((line, index) => stepBetween(lines[index - 1], line)));
  let text = '';
  for (const [index, line] of lines.entries()) {
    if (line.text === '') continue;
    if (text !== '') text += startsParagraph(lines[index - 1], line, usualStep) ? '\n\n' : '\n';
    text += line.text;
  }
  return text;
}

/** The lines of a page in the order in which PDFium reads them. */
export function readLines(pdfium: Pdfium, textPage: number): Line[] {
  const lines: Line[] = [];
  let offset = 0;
  for (const raw of readPageText(pdfium, textPage).split(lineEnd)) {
    const y = readBaseline(pdfium, textPage, offset);
    lines.push({
      text: raw.trim(),
      y,
      size: y === undefined ? undefined : pdfium.FPDFText_GetFontSize(textPage, offset),
      bold: isBold(pdfium, textPage, offset) && isBold(pdfium, textPage, offset + raw.trimEnd().length - 1),
    });
    offset += raw.length + lineEnd.length;
  }
  return lines;
}

function isBold(pdfium: Pdfium, textPage: number, index: number): boolean {
  return pdfium.FPDFText_GetFontWeight(textPage, index) >= boldWeight;
}

/** The distance from the previous baseline down to this one; undefined at the top of a column. */
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
