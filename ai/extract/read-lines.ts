import { joinLeftParted } from './join-parted.ts';
import { mayBeInterleaved, orderColumns, type Piece } from './order-columns.ts';
import { PageCharacters, scratchBytes } from './page-characters.ts';
import type { Blank, Line, Part } from './page-line.ts';
import { lineThresholds } from './pdf-thresholds.ts';
import { joinedHyphen, type Pdfium, readPageText, withMemory } from './pdfium.ts';

const { wideGap, wideBlank } = lineThresholds;
const lineEnd = '\r\n';
/** Up to a blank, or to a hyphen at which PDFium joins two lines. */
const wordOfLine = /[^\s\ufffe]+\ufffe?|\ufffe/g;

/** From which character to before which a stretch of a line goes, and where it ends. */
interface Stretch {
  start: number;
  end: number;
  right: number;
  blanks: Blank[];
}

/** A line as PDFium returns it, and the index of its first character in the page's text. */
interface RawLine {
  raw: string;
  offset: number;
}

/**
 * The lines of a page in PDFium's order, or by column if that order goes back and forth between two columns. `turns` is how many quarters
 * clockwise the page is shown turned; the places are then those on the turned page, except for the origin.
 */
export function readLines(pdfium: Pdfium, textPage: number, turns = 0): Line[] {
  return withMemory(pdfium, scratchBytes, (scratch) => {
    const reader = new LineReader(new PageCharacters({ pdfium, textPage, scratch, turns }));
    const raws = splitLines(readPageText(pdfium, textPage));
    const lines = raws.map((one) => reader.read(one));
    const ordered = mayBeInterleaved(lines) ? orderColumns(raws.flatMap((one) => reader.readPieces(one))) : undefined;
    return ordered ?? joinLeftParted(lines);
  });
}

function splitLines(text: string): RawLine[] {
  let next = 0;
  return text.split(lineEnd).map((raw) => {
    const offset = next;
    next += raw.length + lineEnd.length;
    return { raw, offset };
  });
}

class LineReader {
  readonly #characters: PageCharacters;

  constructor(characters: PageCharacters) {
    this.#characters = characters;
  }

  read({ raw, offset }: RawLine): Line {
    const characters = this.#characters;
    const text = raw.trim();
    const [x, y] = characters.originOf(offset);
    const [, endY] = raw.includes(joinedHyphen) ? characters.originOf(offset + raw.trimEnd().length - 1) : [];
    const { scale, upright } = characters.formOf(offset);
    const size = y === undefined ? undefined : characters.fontSizeOf(offset) * scale;
    const bold = characters.isBold(offset) && characters.isBold(offset + raw.trimEnd().length - 1);
    const parts = upright && size !== undefined ? this.#partsOf({ raw, offset }, size) : [];
    return { text, x, y, endY, size, bold, upright, gapped: text !== '' && this.#hasGap({ raw, offset }, size ?? 0), parts };
  }

  /** The parts of a line between its wide gaps, and between the lines that PDFium has joined. */
  readPieces({ raw, offset }: RawLine): Piece[] {
    const { size = 0 } = this.read({ raw, offset });
    return this.#stretchesOf({ raw, offset }, size).map(({ start, end, right }) => ({
      ...this.read({ raw: raw.slice(start, end), offset: offset + start }),
      right,
    }));
  }

  #partsOf({ raw, offset }: RawLine, size: number): Part[] {
    if (raw.includes(joinedHyphen)) return [];
    const parts: Part[] = [];
    for (const { start, end, right, blanks } of this.#stretchesOf({ raw, offset }, size)) {
      const [x, y] = this.#characters.originOf(offset + start);
      if (x === undefined || y === undefined) return [];
      parts.push({ text: raw.slice(start, end).trim(), x, right, y, blanks });
    }
    return parts;
  }

  /** Where a line is parted: at blanks that are wide, and where PDFium has joined what a line end parts. */
  #stretchesOf({ raw, offset }: RawLine, size: number): Stretch[] {
    const stretches: Stretch[] = [];
    let open: Stretch | undefined;
    for (const word of raw.matchAll(wordOfLine)) {
      const [start, end] = [word.index, word.index + word[0].length];
      const first = this.#characters.extentOf(offset + start);
      const last = end - start === 1 ? first : this.#characters.extentOf(offset + end - 1);
      if (!first || !last) continue;
      const gap = open ? first[0] - open.right : 0;
      if (!open || raw[start - 1] === joinedHyphen || gap > wideGap * size) {
        if (open) open.end = start;
        open = { start, end: raw.length, right: last[1], blanks: [] };
        stretches.push(open);
        continue;
      }
      if (gap > wideBlank * size) open.blanks.push({ at: start - open.start, right: open.right, x: first[0] });
      open.right = last[1];
    }
    return stretches;
  }

  /** Whether two pieces of a line that are drawn one by one are far apart. */
  #hasGap({ raw, offset }: RawLine, size: number): boolean {
    let end: number | undefined;
    for (const [left, right] of this.#characters.drawnExtents(offset, raw.length)) {
      if (end !== undefined && left - end > wideGap * size) return true;
      end = right;
    }
    return false;
  }
}
