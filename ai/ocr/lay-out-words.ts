import { layOutLines } from '../extract/lay-out-page.ts';
import { orderColumns, type Piece } from '../extract/order-columns.ts';
import type { Blank, Line } from '../extract/page-line.ts';
import { joinTables } from '../extract/pdf-tables.ts';
import { columnThresholds, lineThresholds } from '../extract/pdf-thresholds.ts';
import type { Word } from './engine.ts';

/** Small letters of type in 10 points have about half its size. */
const typePoints = 10;
const pointsOfLetter = 5;
const { wideGap, wideBlank } = lineThresholds;
const { fewestLines, fewestWords } = columnThresholds;
/** How far apart the middles of words may be in one row, in sizes of the type. */
const sameRow = 0.5;
/** Words with letters below the line. */
const descending = /[gjpqyQ,;|()[\]{}/]/;

/**
 * The text of a page from its words, laid out as the pages of PDFs are: columns of text one after the other, tables in rows of Markdown. `letter`
 * is the height of small letters, in pixels.
 */
export function layOutWords(words: Word[], letter: number): string {
  const scale = pointsOfLetter / letter;
  const lines = [...Map.groupBy(words, ({ line }) => line).values()];
  if (haveColumns(words)) return layOutLines(lines.map((one) => toPiece(one, scale)));
  const pieces = lines.flatMap((line) => splitAtGaps(line, scale)).map((one) => toPiece(one, scale));
  const rows = toRows(pieces);
  return layOutLines(orderColumns(rows.flat()) ?? joinTables(rows.map(joinRow)));
}

/** Whether the engine has found columns of text: blocks of full lines beside each other. */
function haveColumns(words: Word[]): boolean {
  const blocks = [...Map.groupBy(words, ({ block }) => block).values()].flatMap((block) => {
    const lines = new Set(block.map(({ line }) => line)).size;
    if (lines < fewestLines || block.length < lines * fewestWords) return [];
    const edge = (of: (word: Word) => number, best: typeof Math.min) =>
      block.reduce((so, word) => best(so, of(word)), of(block[0] as Word));
    return [
      {
        left: edge((w) => w.left, Math.min),
        right: edge((w) => w.right, Math.max),
        top: edge((w) => w.top, Math.min),
        bottom: edge((w) => w.bottom, Math.max),
      },
    ];
  });
  return blocks.some((one) =>
    blocks.some((other) => {
      const common = Math.min(one.bottom, other.bottom) - Math.max(one.top, other.top);
      return other.left >= one.right && common * 2 > Math.min(one.bottom - one.top, other.bottom - other.top);
    }),
  );
}

function splitAtGaps(line: Word[], scale: number): Word[][] {
  const groups: Word[][] = [];
  let right = Number.POSITIVE_INFINITY;
  for (const word of line.toSorted((one, other) => one.left - other.left)) {
    const isFar = (word.left - right) * scale > wideGap * typePoints;
    if (groups.length === 0 || isFar) groups.push([word]);
    else groups.at(-1)?.push(word);
    right = word.right;
  }
  return groups;
}

function toPiece(words: Word[], scale: number): Piece {
  const [first, last] = [words[0] as Word, words.at(-1) as Word];
  const straight = words.filter(({ text }) => !descending.test(text));
  const bottoms = (straight.length > 0 ? straight : words).map(({ bottom }) => bottom).sort((one, other) => one - other);
  // As PDF counts: upwards.
  const y = -(bottoms[Math.floor(bottoms.length / 2)] as number) * scale;
  const [x, right] = [first.left * scale, last.right * scale];
  const text = words.map((word) => word.text).join(' ');
  const parts = [{ text, x, right, y, blanks: blanksOf(words, scale) }];
  return { text, x, y, right, size: typePoints, bold: false, upright: true, gapped: false, parts };
}

function blanksOf(words: Word[], scale: number): Blank[] {
  let at = 0;
  return words.flatMap((word, index) => {
    const before = words[index - 1];
    if (before) at += before.text.length + 1;
    if (!before || (word.left - before.right) * scale <= wideBlank * typePoints) return [];
    return [{ at, right: before.right * scale, x: word.left * scale }];
  });
}

/** The pieces at one height each, from the top, and from the left. */
function toRows(pieces: Piece[]): Piece[][] {
  const rows: Piece[][] = [];
  for (const piece of pieces.toSorted((one, other) => (other.y ?? 0) - (one.y ?? 0))) {
    const row = rows.at(-1);
    const isBeside = row?.every((one) => piece.right < (one.x ?? 0) || (piece.x ?? 0) > one.right);
    if (row && isBeside && Math.abs((row[0]?.y ?? 0) - (piece.y ?? 0)) <= sameRow * typePoints) row.push(piece);
    else rows.push([piece]);
  }
  return rows.map((row) => row.sort((one, other) => (one.x ?? 0) - (other.x ?? 0)));
}

function joinRow(row: Piece[]): Line {
  const [first] = row as [Piece];
  return { ...first, text: row.map(({ text }) => text).join(' '), gapped: row.length > 1, parts: row.flatMap(({ parts }) => parts) };
}
