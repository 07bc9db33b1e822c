import { layOutLines } from '../formats/pdf/lay-out-page.ts';
import { orderColumns, type Piece } from '../formats/pdf/order-columns.ts';
import type { Blank, Line } from '../formats/pdf/page-line.ts';
import { joinTables } from '../formats/pdf/pdf-tables.ts';
import { lineThresholds } from '../formats/pdf/pdf-thresholds.ts';
import { pointOf } from './picture.ts';
import type { ReadLine, Word } from './read-line.ts';

/** Lines are scaled as if most were in 10-point type. A detected line is this many times as high as its type. */
const typePoints = 10;
const heightOfLine = 1.25;
/** How far apart the middles of lines may be in one row, in sizes of the type. */
const sameRow = 0.5;
/** How far apart edges may be that are meant to be one. */
const sameEdge = 0.4;
const { wideGap, wideBlank } = lineThresholds;

/** The text of a page from its lines, laid out as the pages of PDFs are: columns of text one after the other, tables in rows of Markdown. */
export function layOutPage(lines: ReadLine[]): string {
  const scale = (typePoints * heightOfLine) / (median(lines.map(({ strip }) => strip.height)) ?? 1);
  const skew = skewOf(lines);
  const pieces = lines.flatMap((line) => splitAtGaps(line, scale)).map((line) => toPiece(line, scale, skew));
  const rows = toRows(align(pieces));
  return layOutLines(orderColumns(rows.flat()) ?? joinTables(rows.map(joinRow)));
}

/** The median angle of the longer half of the lines, in radians. */
function skewOf(lines: ReadLine[]): number {
  const longest = lines.toSorted((one, other) => other.strip.width - one.strip.width).slice(0, Math.ceil(lines.length / 2));
  return median(longest.map(({ strip }) => strip.angle)) ?? 0;
}

/** The parts of a line between wide gaps: cells of a table that were found as one line. */
function splitAtGaps({ strip, words }: ReadLine, scale: number): ReadLine[] {
  const parts: Word[][] = [];
  for (const word of words) {
    const before = parts.at(-1)?.at(-1);
    if (before && (word.start - before.end) * strip.width * scale <= wideGap * typePoints) parts.at(-1)?.push(word);
    else parts.push([word]);
  }
  return parts.map((some) => ({ strip, words: some }));
}

/** A piece of a row, and at which heights it begins and ends: it may lean. */
interface Placed {
  piece: Piece;
  from: number;
  to: number;
}

/** A line that bends is laid out as if it ran straight. */
function toPiece({ strip: { bend: _, ...strip }, words }: ReadLine, scale: number, skew: number): Placed {
  const [cos, sin] = [Math.cos(skew), Math.sin(skew)];
  const placeOf = (share: number) => {
    const { x, y } = pointOf(strip, share * strip.width, strip.height / 2);
    // As PDF counts: upwards.
    return { x: (x * cos + y * sin) * scale, y: (x * sin - y * cos) * scale };
  };
  const [start, end] = [placeOf(words[0]?.start ?? 0), placeOf(words.at(-1)?.end ?? 1)];
  const [x, right, y] = [start.x, end.x, (start.y + end.y) / 2];
  const text = words.map((word) => word.text).join(' ');
  const blanks = blanksOf(words, (share) => placeOf(share).x);
  const piece = { text, x, y, right, size: typePoints, bold: false, upright: true, gapped: false, parts: [{ text, x, right, y, blanks }] };
  return { piece, from: start.y, to: end.y };
}

function blanksOf(words: Word[], place: (share: number) => number): Blank[] {
  let at = 0;
  return words.flatMap((word, index) => {
    const before = words[index - 1];
    if (!before) return [];
    at += before.text.length + 1;
    const [right, x] = [place(before.end), place(word.start)];
    return x - right <= wideBlank * typePoints ? [] : [{ at, right, x }];
  });
}

/** Gives pieces common edges: the detector finds only roughly where a line begins and ends. */
function align(pieces: Placed[]): Placed[] {
  const [left, right] = [commonPlaces(pieces.map(({ piece }) => piece.x ?? 0)), commonPlaces(pieces.map(({ piece }) => piece.right))];
  return pieces.map(({ piece, ...heights }) => ({ ...heights, piece: move(piece, { x: left(piece.x ?? 0), right: right(piece.right) }) }));
}

function move(piece: Piece, to: { x: number; right: number } | { y: number }): Piece {
  return { ...piece, ...to, parts: piece.parts.map((part) => ({ ...part, ...to })) };
}

/** Returns a function that moves places near each other to their median. */
function commonPlaces(places: number[]): (place: number) => number {
  const groups: number[][] = [];
  for (const place of places.toSorted((one, other) => one - other)) {
    const group = groups.at(-1);
    if (group && place - (group[0] as number) <= sameEdge * typePoints) group.push(place);
    else groups.push([place]);
  }
  const middles = new Map(groups.flatMap((group) => group.map((place) => [place, group[Math.floor(group.length / 2)] as number])));
  return (place) => middles.get(place) ?? place;
}

/**
 * The pieces of each row, from the top, and from the left. Each joins the row that ends nearest to where it begins, so that a row may lean or
 * bend, and stands at its height.
 */
function toRows(pieces: Placed[]): Piece[][] {
  const rows: Placed[][] = [];
  for (const placed of pieces.toSorted(({ piece: one }, { piece: other }) => (one.x ?? 0) - (other.x ?? 0))) {
    const offTo = (row: Placed[]) => {
      const last = row.at(-1) as Placed;
      const isOver = last.piece.right > (placed.piece.x ?? 0) + sameRow * typePoints;
      return isOver ? Number.POSITIVE_INFINITY : Math.abs(last.to - placed.from);
    };
    const nearest = rows.reduce<Placed[] | undefined>((best, row) => (best && offTo(best) <= offTo(row) ? best : row), undefined);
    if (nearest && offTo(nearest) <= sameRow * typePoints) nearest.push(placed);
    else rows.push([placed]);
  }
  const level = rows.map((row) => {
    const y = ((row[0] as Placed).from + (row.at(-1) as Placed).to) / 2;
    return row.map(({ piece }) => move(piece, { y }));
  });
  return level.sort(([one], [other]) => (other?.y ?? 0) - (one?.y ?? 0));
}

function joinRow(row: Piece[]): Line {
  const [first] = row as [Piece];
  return { ...first, text: row.map(({ text }) => text).join(' '), gapped: row.length > 1, parts: row.flatMap(({ parts }) => parts) };
}

function median(numbers: number[]): number | undefined {
  return numbers.sort((one, other) => one - other)[Math.floor(numbers.length / 2)];
}
