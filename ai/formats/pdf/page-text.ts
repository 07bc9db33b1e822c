import { type Pdfium, withMemory } from './pdfium.ts';

const lineEnd = '\r\n';

/** A stretch of the text of a page, and which of the page's characters each of its UTF-16 units is. */
export interface RawLine {
  raw: string;
  /** By PDFium's index; below 0 what is not of the page's content: see `PageCharacters`. */
  at: number[];
}

/** The text of a page as PDFium has it, line by line. */
export function readRawLines(pdfium: Pdfium, textPage: number): RawLine[] {
  // To wkhtmltopdf each blank is a tab, and to some fonts each hyphen is a soft one.
  const text = readPageText(pdfium, textPage).replaceAll('\t', ' ').replaceAll('\u00ad', '-');
  const at = indexesOf(pdfium, textPage, text);
  let next = 0;
  return text.split(lineEnd).map((raw) => {
    const start = next;
    next += raw.length + lineEnd.length;
    return { raw, at: at.slice(start, start + raw.length) };
  });
}

/** A part of a line. */
export function sliceLine({ raw, at }: RawLine, start: number, end: number): RawLine {
  return { raw: raw.slice(start, end), at: at.slice(start, end) };
}

/** Lines without some of their characters, and without the blanks around those. */
export function dropCharacters(lines: RawLine[], isDropped: (index: number) => boolean): RawLine[] {
  return lines.map((line) => {
    if (!line.at.some(isDropped)) return line;
    const kept: RawLine = { raw: '', at: [] };
    for (const [place, index] of line.at.entries()) {
      const unit = line.raw[place] ?? '';
      if (isDropped(index) || (/\s/.test(unit) && /^$|\s$/.test(kept.raw))) continue;
      kept.raw += unit;
      kept.at.push(index);
    }
    return kept;
  });
}

/** The text of a page as PDFium has it, with lines that end in CR LF. */
export function readPageText(pdfium: Pdfium, textPage: number): string {
  const count = pdfium.FPDFText_CountChars(textPage);
  if (count <= 0) return '';
  return withMemory(pdfium, (count + 1) * 2, (buffer) => {
    const written = pdfium.FPDFText_GetText(textPage, 0, count, buffer);
    const heap = pdfium.pdfium.HEAPU8;
    return Buffer.from(heap.buffer, buffer, Math.max(0, written - 1) * 2).toString('utf16le');
  });
}

/** PDFium counts characters, also some that its text leaves out; a string counts a character beyond the first plane as two. */
function indexesOf(pdfium: Pdfium, textPage: number, text: string): number[] {
  const isSame = text.length === pdfium.FPDFText_CountChars(textPage);
  const indexes: number[] = [];
  let place = 0;
  for (const character of text) {
    const index = isSame ? place : pdfium.FPDFText_GetCharIndexFromTextIndex(textPage, place);
    for (let unit = 0; unit < character.length; unit += 1) indexes.push(index);
    place += 1;
  }
  return indexes;
}
