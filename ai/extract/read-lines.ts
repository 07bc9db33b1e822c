import { mayBeInterleaved, orderColumns, type Piece } from './order-columns.ts';
import { joinedHyphen, type Pdfium, readPageText, withMemory } from './pdfium.ts';

const lineEnd = '\r\n';
const boldWeight = 600;
/** Fonts that a document does not hold have no weight but a name. */
const boldName = /bold|black|heavy|demi|cmbx/i;
/** For what PDFium returns: four numbers, then a name. */
const scratchBytes = { numbers: 32, name: 128 };
/** Wider than any space between words, in the size of the type. */
const wideGap = 0.9;
/** How far a line may lean and still be read as one that stands upright. */
const mostLean = 0.1;

/** A line of a page, as it stands in the order of reading. Lengths are in points; what PDFium does not know is undefined. */
export interface Line {
  text: string;
  /** Where it begins, from the left edge of the page. */
  x: number | undefined;
  /** Baseline above the page's lower edge. */
  y: number | undefined;
  /** Of the font, as it is shown. */
  size: number | undefined;
  /** Set in bold from its first to its last character. */
  bold: boolean;
  /** Written from left to right, not up or down the page. */
  upright: boolean;
  /** Parts of it stand so far from each other that they may be cells of a table. */
  gapped: boolean;
}

/** The lines of a page in the order in which PDFium reads them, or in that of two columns if PDFium goes to and fro between them. */
export function readLines(pdfium: Pdfium, textPage: number): Line[] {
  return withMemory(pdfium, scratchBytes.numbers + scratchBytes.name, (scratch) => {
    const reader = new LineReader(pdfium, textPage, scratch);
    const raws: { raw: string; offset: number }[] = [];
    let offset = 0;
    for (const raw of readPageText(pdfium, textPage).split(lineEnd)) {
      raws.push({ raw, offset });
      offset += raw.length + lineEnd.length;
    }
    const lines = raws.map((one) => reader.read(one.raw, one.offset));
    if (!mayBeInterleaved(lines)) return lines;
    return orderColumns(raws.flatMap((one) => reader.readPieces(one.raw, one.offset))) ?? lines;
  });
}

class LineReader {
  readonly #pdfium: Pdfium;
  readonly #textPage: number;
  /** The address of memory for what PDFium returns. */
  readonly #scratch: number;

  constructor(pdfium: Pdfium, textPage: number, scratch: number) {
    this.#pdfium = pdfium;
    this.#textPage = textPage;
    this.#scratch = scratch;
  }

  read(raw: string, offset: number): Line {
    const text = raw.trim();
    const [x, y] = this.#originOf(offset);
    const { scale, upright } = this.#formOf(offset);
    const size = y === undefined ? undefined : this.#pdfium.FPDFText_GetFontSize(this.#textPage, offset) * scale;
    const bold = this.#isBold(offset) && this.#isBold(offset + raw.trimEnd().length - 1);
    return { text, x, y, size, bold, upright, gapped: text !== '' && this.#hasGap(offset, raw.length, size ?? 0) };
  }

  /** The parts of a line between its wide gaps, and between the lines that PDFium has joined. */
  readPieces(raw: string, offset: number): Piece[] {
    const pieces: Piece[] = [];
    let [start, right, joined]: [number, number | undefined, boolean] = [0, undefined, false];
    const { size = 0 } = this.read(raw, offset);
    const end = (index: number) => {
      const text = raw.slice(start, index);
      if (text.trim() !== '' && right !== undefined) pieces.push({ ...this.read(text, offset + start), right });
      start = index;
    };
    for (let index = 0; index < raw.length; index += 1) {
      if (/\s/.test(raw[index] ?? '')) continue;
      const box = this.#boxOf(offset + index);
      if (!box) continue;
      if (right !== undefined && (joined || box[0] - right > wideGap * size)) end(index);
      right = box[1];
      joined = raw[index] === joinedHyphen;
    }
    end(raw.length);
    return pieces;
  }

  #originOf(index: number): [number | undefined, number | undefined] {
    const { FPDFText_GetCharOrigin: read } = this.#pdfium;
    return read(this.#textPage, index, this.#scratch, this.#scratch + 8) ? [this.#double(0), this.#double(1)] : [undefined, undefined];
  }

  /** The left and the right edge of a character. */
  #boxOf(index: number): [number, number] | undefined {
    const at = (place: number) => this.#scratch + 8 * place;
    if (!this.#pdfium.FPDFText_GetCharBox(this.#textPage, index, at(0), at(1), at(2), at(3))) return undefined;
    return [this.#double(0), this.#double(1)];
  }

  /** How a character is scaled, and which way it stands. Some programs set all type in one point, and scale it. */
  #formOf(index: number): { scale: number; upright: boolean } {
    if (!this.#pdfium.FPDFText_GetMatrix(this.#textPage, index, this.#scratch)) return { scale: 1, upright: true };
    const [a = 1, b = 0, c = 0, d = 1] = new Float32Array(this.#pdfium.pdfium.HEAPU8.buffer, this.#scratch, 4);
    return { scale: Math.hypot(c, d) || 1, upright: a > 0 && Math.abs(b) <= mostLean * a };
  }

  #isBold(index: number): boolean {
    return this.#pdfium.FPDFText_GetFontWeight(this.#textPage, index) >= boldWeight || boldName.test(this.#fontNameOf(index));
  }

  /** Empty if there is none, or a very long one. */
  #fontNameOf(index: number): string {
    const at = this.#scratch + scratchBytes.numbers;
    const length = this.#pdfium.FPDFText_GetFontInfo(this.#textPage, index, at, scratchBytes.name, 0);
    if (length <= 1 || length > scratchBytes.name) return '';
    return Buffer.from(this.#pdfium.pdfium.HEAPU8.buffer, at, length - 1).toString('latin1');
  }

  /** Whether two pieces of a line that are drawn one by one are far apart. */
  #hasGap(offset: number, length: number, size: number): boolean {
    const count = this.#pdfium.FPDFText_CountRects(this.#textPage, offset, length);
    let end: number | undefined;
    for (let index = 0; index < count; index += 1) {
      const [left, right] = this.#rectangle(index);
      if (end !== undefined && left - end > wideGap * size) return true;
      end = right;
    }
    return false;
  }

  /** The left and the right edge of a rectangle of the last line that was counted. */
  #rectangle(index: number): [number, number] {
    const at = (place: number) => this.#scratch + 8 * place;
    this.#pdfium.FPDFText_GetRect(this.#textPage, index, at(0), at(2), at(1), at(3));
    return [this.#double(0), this.#double(1)];
  }

  #double(place: number): number {
    // Taken anew each time: PDFium's memory moves when it grows.
    return new DataView(this.#pdfium.pdfium.HEAPU8.buffer).getFloat64(this.#scratch + 8 * place, true);
  }
}
