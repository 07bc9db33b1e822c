import { turn } from './page-box.ts';
import { lineThresholds } from './pdf-thresholds.ts';
import type { Pdfium } from './pdfium.ts';

const { boldWeight, maxSkew } = lineThresholds;
/** Fonts that a document does not hold have no weight but a name. */
const boldName = /bold|black|heavy|demi|cmbx/i;
/** The type of PDFium's results: four numbers, then a name. */
const scratch = { numbers: 32, name: 128 };

/** How much memory {@link PageCharacters} needs. */
export const scratchBytes = scratch.numbers + scratch.name;

/** Horizontal extent in points: left, right. */
type Extent = [start: number, end: number];

/** A character that is not of the page's content, such as one of the value of a field. */
interface AddedCharacter {
  x: number;
  right: number;
  y: number;
  size: number;
}

/**
 * Where the characters of a page stand, and in which type, by PDFium's index, or by that of {@link PageCharacters.add}. Places are in points,
 * and those on the page as it is shown, `turns` quarters clockwise, except for the origin.
 */
export class PageCharacters {
  readonly #pdfium: Pdfium;
  readonly #textPage: number;
  /** The address of memory for what PDFium returns. */
  readonly #scratch: number;
  readonly #turns: number;
  readonly #added: AddedCharacter[] = [];
  #leftward = false;

  constructor(page: { pdfium: Pdfium; textPage: number; scratch: number; turns: number }) {
    this.#pdfium = page.pdfium;
    this.#textPage = page.textPage;
    this.#scratch = page.scratch;
    this.#turns = page.turns;
  }

  /** Whether places along the lines are counted from the right, with a minus, as the columns of Hebrew and Arabic are. */
  get leftward(): boolean {
    return this.#leftward;
  }

  /** Counts places along the lines from the right from now on. */
  turnLeftward(): void {
    this.#leftward = true;
  }

  /** Adds a character to those of the page, and returns its index, which is below 0. */
  add(character: AddedCharacter): number {
    return -this.#added.push(character);
  }

  /** Where a character begins on its baseline; undefined if PDFium does not know, or for no index. */
  originOf(index: number | undefined): [number | undefined, number | undefined] {
    if (index === undefined) return [undefined, undefined];
    if (this.#leftward) return [this.extentOf(index)?.[0], this.#originOf(index)[1]];
    return this.#originOf(index);
  }

  #originOf(index: number): [number | undefined, number | undefined] {
    const added = this.#addedAt(index);
    if (added) return [added.x, added.y];
    const { FPDFText_GetCharOrigin: read } = this.#pdfium;
    if (!read(this.#textPage, index, this.#scratch, this.#scratch + 8)) return [undefined, undefined];
    const [x = 0, y = 0] = this.#readNumbers();
    return turn([x, y], this.#turns);
  }

  /** From where to where a character goes. */
  extentOf(index: number | undefined): Extent | undefined {
    if (index === undefined) return undefined;
    const added = this.#addedAt(index);
    if (added) return this.#leftward ? [-added.right, -added.x] : [added.x, added.right];
    const at = (place: number) => this.#scratch + 8 * place;
    if (!this.#pdfium.FPDFText_GetCharBox(this.#textPage, index, at(0), at(1), at(2), at(3))) return undefined;
    return this.#readExtent();
  }

  /** From where to where a character goes with the space that it takes in its line, as the font says. */
  advanceOf(index: number | undefined): Extent | undefined {
    if (index === undefined || index < 0) return this.extentOf(index);
    if (!this.#pdfium.FPDFText_GetLooseCharBox(this.#textPage, index, this.#scratch)) return undefined;
    const [left = 0, top = 0, right = 0, bottom = 0] = new Float32Array(this.#pdfium.pdfium.HEAPU8.buffer, this.#scratch, 4);
    const [one, other] = [turn([left, bottom], this.#turns)[0], turn([right, top], this.#turns)[0]];
    return one < other ? [one, other] : [other, one];
  }

  /** Where the middle of a character is, on the page as it is stored. */
  centerOf(index: number | undefined): [number, number] | undefined {
    if (index === undefined || index < 0) return undefined;
    const at = (place: number) => this.#scratch + 8 * place;
    if (!this.#pdfium.FPDFText_GetCharBox(this.#textPage, index, at(0), at(1), at(2), at(3))) return undefined;
    const [left = 0, right = 0, bottom = 0, top = 0] = this.#readNumbers();
    return [(left + right) / 2, (bottom + top) / 2];
  }

  /** What a character is drawn with in one run, as a number. */
  runOf(index: number): number {
    return index < 0 ? 0 : this.#pdfium.FPDFText_GetTextObject(this.#textPage, index);
  }

  /** Whether a blank is one that PDFium adds where letters are apart. */
  isGenerated(index: number): boolean {
    return index >= 0 && this.#pdfium.FPDFText_IsGenerated(this.#textPage, index) === 1;
  }

  /** From where to where each piece of a stretch of text goes that is drawn by itself. */
  *drawnExtents(index: number, length: number): Generator<Extent> {
    const at = (place: number) => this.#scratch + 8 * place;
    const count = this.#pdfium.FPDFText_CountRects(this.#textPage, index, length);
    for (let piece = 0; piece < count; piece += 1) {
      this.#pdfium.FPDFText_GetRect(this.#textPage, piece, at(0), at(3), at(1), at(2));
      yield this.#readExtent();
    }
  }

  /** The size of the type, before it is scaled. */
  fontSizeOf(index: number): number {
    return this.#addedAt(index)?.size ?? this.#pdfium.FPDFText_GetFontSize(this.#textPage, index);
  }

  /** How a character is scaled, and which way it stands. Some programs set all type in one point, and scale it. */
  formOf(index: number | undefined): { scale: number; upright: boolean } {
    if (index === undefined || index < 0 || !this.#pdfium.FPDFText_GetMatrix(this.#textPage, index, this.#scratch))
      return { scale: 1, upright: true };
    const [a = 1, b = 0, c = 0, d = 1] = new Float32Array(this.#pdfium.pdfium.HEAPU8.buffer, this.#scratch, 4);
    const [along, up] = turn([a, b], this.#turns);
    return { scale: Math.hypot(c, d) || 1, upright: along > 0 && Math.abs(up) <= maxSkew * along };
  }

  isBold(index: number | undefined): boolean {
    if (index === undefined || index < 0) return false;
    return this.#pdfium.FPDFText_GetFontWeight(this.#textPage, index) >= boldWeight || boldName.test(this.#fontNameOf(index));
  }

  #addedAt(index: number): AddedCharacter | undefined {
    return index < 0 ? this.#added[-index - 1] : undefined;
  }

  /** Empty if there is none, or a very long one. */
  #fontNameOf(index: number): string {
    const at = this.#scratch + scratch.numbers;
    const length = this.#pdfium.FPDFText_GetFontInfo(this.#textPage, index, at, scratch.name, 0);
    if (length <= 1 || length > scratch.name) return '';
    return Buffer.from(this.#pdfium.pdfium.HEAPU8.buffer, at, length - 1).toString('latin1');
  }

  /** The extent of a box whose left, right, lower and upper edge PDFium has returned. */
  #readExtent(): Extent {
    const [left = 0, right = 0, bottom = 0, top = 0] = this.#readNumbers();
    const [one, other] = [turn([left, bottom], this.#turns)[0], turn([right, top], this.#turns)[0]];
    const [start, end] = one < other ? [one, other] : [other, one];
    return this.#leftward ? [-end, -start] : [start, end];
  }

  #readNumbers(): Float64Array {
    // Taken anew each time: PDFium's memory moves when it grows.
    return new Float64Array(this.#pdfium.pdfium.HEAPU8.buffer, this.#scratch, 4);
  }
}
