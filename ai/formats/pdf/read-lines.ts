import { addTyped } from './add-typed.ts';
import type { Typed } from './form-and-annotation-text.ts';
import { joinRaised } from './join-raised.ts';
import { joinLeftParted } from './join-split-lines.ts';
import { markRaised } from './mark-raised.ts';
import { mayBeInterleaved, orderColumns, type Piece } from './order-columns.ts';
import { isRightToLeft, orderRightToLeft } from './order-right-to-left.ts';
import type { Box } from './page-box.ts';
import { PageCharacters, scratchBytes } from './page-characters.ts';
import type { Blank, Line, Part } from './page-line.ts';
import { dropCharacters, type RawLine, readRawLines, sliceLine } from './page-text.ts';
import { lineThresholds } from './pdf-thresholds.ts';
import { joinedHyphen, type Pdfium, withMemory } from './pdfium.ts';
import type { RuledLines } from './ruled-lines.ts';
import { partLines } from './split-lines.ts';
import { joinLetters, leaveOutCopies, leaveOutUnshown } from './visible-lines.ts';

const { wideGap, wideBlank } = lineThresholds;
/** Up to a blank, or to a hyphen at which PDFium joins two lines. */
const wordOfLine = /[^\s\ufffe]+\ufffe?|\ufffe/g;

/** From which character to before which a stretch of a line goes, and where it ends. */
interface Stretch {
  start: number;
  end: number;
  left: number;
  right: number;
  blanks: Blank[];
}

/** What is known of a page before its lines are read. */
interface PageHints {
  /** How many quarters clockwise the page is shown turned. */
  turns?: number;
  /** What stands upon it, which is read where it stands. */
  typed?: Typed[];
  /** The characters, by PDFium's index, that are left out. */
  wrong?: Set<number>;
  /** The part of it that is shown, as it is stored. */
  shown?: Box | undefined;
  /** The lines that are drawn on it. */
  ruled?: RuledLines;
}

/**
 * The lines of a page in PDFium's order, or by column if that order goes back and forth between two columns. Places are those on the page as
 * it is turned, except for the origin.
 */
export function readLines(pdfium: Pdfium, textPage: number, hints: PageHints = {}): Line[] {
  const { turns = 0, typed = [], wrong = new Set(), shown, ruled } = hints;
  return withMemory(pdfium, scratchBytes, (scratch) => {
    const characters = new PageCharacters({ pdfium, textPage, scratch, turns });
    const reader = new LineReader(characters, ruled);
    const known = dropCharacters(readRawLines(pdfium, textPage), (index) => wrong.has(index));
    const parted = joinRaised(partLines(known, characters), characters);
    const visible = shown ? leaveOutUnshown(parted, shown, characters) : parted;
    const once = joinLetters(leaveOutCopies(visible, characters), characters);
    const isLeftward = isRightToLeft(once.map(({ raw }) => raw).join(''));
    const raws = addTyped(
      once.map((line) => markRaised(orderRightToLeft(line, characters, isLeftward), characters)),
      typed,
      characters,
      turns,
    );
    if (isRightToLeft(raws.map(({ raw }) => raw).join(''))) characters.turnLeftward();
    const lines = raws.map((one) => reader.read(one));
    const ordered = mayBeInterleaved(lines) ? orderColumns(raws.flatMap((one) => reader.readPieces(one))) : undefined;
    return ordered ?? joinLeftParted(lines);
  });
}

class LineReader {
  readonly #characters: PageCharacters;
  readonly #ruled: RuledLines | undefined;

  constructor(characters: PageCharacters, ruled: RuledLines | undefined) {
    this.#characters = characters;
    this.#ruled = ruled;
  }

  read(line: RawLine): Line {
    const characters = this.#characters;
    const { raw, at } = line;
    const text = raw.trim();
    const [first, last] = [at[0], at[raw.trimEnd().length - 1]];
    const [x, y] = characters.originOf(first);
    const [, endY] = raw.includes(joinedHyphen) ? characters.originOf(last) : [];
    const { scale, upright: begins } = characters.formOf(first);
    // PDFium takes a page on its side for one line, which may begin with an upright number of the page.
    const upright = begins && characters.formOf(last).upright;
    const size = first === undefined || y === undefined ? undefined : characters.fontSizeOf(first) * scale;
    const bold = characters.isBold(first) && characters.isBold(last);
    const parts = upright && size !== undefined ? this.#partsOf(line, size) : [];
    const gapped = text !== '' && this.#hasGap(line, size ?? 0);
    const typed = at.length > 0 && at.every((index) => index < 0);
    return { text, x, y, endY, size, bold, upright, gapped, parts, ...(typed ? { typed } : {}) };
  }

  /** The parts of a line between its wide gaps, and between the lines that PDFium has joined. */
  readPieces(line: RawLine): Piece[] {
    const { size = 0 } = this.read(line);
    return this.#stretchesOf(line, size).map(({ start, end, right }) => ({ ...this.read(sliceLine(line, start, end)), right }));
  }

  #partsOf({ raw, at }: RawLine, size: number): Part[] {
    if (raw.includes(joinedHyphen)) return [];
    const parts: Part[] = [];
    for (const { start, end, left, right, blanks } of this.#stretchesOf({ raw, at }, size)) {
      const [origin, y] = this.#characters.originOf(at[start]);
      const x = this.#characters.leftward ? left : origin;
      if (x === undefined || y === undefined) return [];
      const cell = this.#characters.leftward ? undefined : this.#ruled?.cellOf(x, right, y);
      parts.push({ text: raw.slice(start, end).trim(), x, right, y, blanks, cell });
    }
    return parts;
  }

  /** Where a line is parted: at blanks that are wide, at lines that are drawn, and where PDFium has joined what a line end parts. */
  #stretchesOf({ raw, at }: RawLine, size: number): Stretch[] {
    const stretches: Stretch[] = [];
    let open: Stretch | undefined;
    for (const { start, left, right } of this.#wordsOf({ raw, at }, size)) {
      const gap = open ? left - open.right : 0;
      if (!open || raw[start - 1] === joinedHyphen || gap > wideGap * size || this.#isRuled(open.right, left, at[start])) {
        if (open) open.end = start;
        open = { start, end: raw.length, left, right, blanks: [] };
        stretches.push(open);
        continue;
      }
      if (gap > wideBlank * size) open.blanks.push({ at: start - open.start, right: open.right, x: left });
      open.right = right;
    }
    return stretches;
  }

  /** Whether a line is drawn between two places, before the character at an index. */
  #isRuled(from: number, to: number, index: number | undefined): boolean {
    const readBaseline = () => this.#characters.originOf(index)[1];
    const [left, right] = this.#characters.leftward ? [-to, -from] : [from, to];
    return this.#ruled?.separates(left, right, readBaseline) ?? false;
  }

  /** The words of a line. The groups of a number that goes from left to right in a line from right to left are one of them. */
  #wordsOf({ raw, at }: RawLine, size: number): Omit<Stretch, 'blanks'>[] {
    const words: Omit<Stretch, 'blanks'>[] = [];
    for (const word of raw.matchAll(wordOfLine)) {
      const [start, end] = [word.index, word.index + word[0].length];
      const first = this.#characters.extentOf(at[start]);
      const last = end - start === 1 ? first : this.#characters.extentOf(at[end - 1]);
      if (!first || !last) continue;
      // A number of a line from right to left begins at its left.
      const isTurned = this.#characters.leftward && first[0] > last[0];
      const [left, right] = isTurned ? [last[0], first[1]] : [first[0], last[1]];
      const before = this.#characters.leftward && raw[start - 1] !== joinedHyphen ? words.at(-1) : undefined;
      const back = before ? before.left - right : 0;
      const isOneNumber = back > 0 && back <= wideGap * size && !/\p{L}/u.test(raw.slice(before?.start, end));
      if (before && isOneNumber) [before.end, before.left] = [end, left];
      else words.push({ start, end, left, right });
    }
    return words;
  }

  /** Whether two pieces of a line that are drawn one by one are far apart. */
  #hasGap({ raw, at }: RawLine, size: number): boolean {
    const [first, last] = [at[0], at[raw.length - 1]];
    if (first === undefined || last === undefined) return false;
    // What is added to the page is drawn by itself.
    if (this.#characters.leftward || at.some((index) => index < 0)) return this.#stretchesOf({ raw, at }, size).length > 1;
    let end: number | undefined;
    for (const [left, right] of this.#characters.drawnExtents(first, last - first + 1)) {
      if (end !== undefined && left - end > wideGap * size) return true;
      end = right;
    }
    return false;
  }
}
