import { joinParted } from './join-split-lines.ts';
import type { Line } from './page-line.ts';
import { columnThresholds } from './pdf-thresholds.ts';
import { joinedHyphen } from './pdfium.ts';

const { minLines, middle, tolerance, filled, minWords, switching } = columnThresholds;
/** A part of a line that stands in one column. */
export interface Piece extends Line {
  /** Where it ends, from the left edge of the page, in points. */
  right: number;
}

/** Whether lines are drawn in such an order that they may go to and fro between columns. */
export function mayBeInterleaved(lines: Line[]): boolean {
  const upwards = lines.filter(({ x = 0, y = 0 }, index) => {
    const above = lines[index - 1];
    return above?.x !== undefined && above.y !== undefined && x > above.x + tolerance && y > above.y - tolerance;
  });
  // PDFium joins lines where a hyphen parts a word.
  const gapped = lines.filter((line) => line.gapped).reduce((sum, { text }) => sum + text.split(joinedHyphen).length, 0);
  return gapped + upwards.length >= minLines;
}

/**
 * Orders the pieces of a page by two columns of text, if PDFium's order goes back and forth between them; undefined if it does not. A piece
 * that spans both columns separates what is above it from what is below. The columns of a table, with their short lines, are not columns of
 * text.
 */
export function orderColumns(pieces: Piece[]): Line[] | undefined {
  const gutter = findGutter(pieces);
  if (gutter === undefined) return undefined;
  const blocks = blocksOf(pieces, gutter);
  if (!blocks.some((block) => isInterleaved(block, gutter))) return undefined;
  return blocks.flatMap((block) => {
    if (!isInterleaved(block, gutter)) return block;
    const [left, right] = [true, false].map((side) => block.filter((piece) => isLeft(piece, gutter) === side).sort(fromTop)) as [
      Piece[],
      Piece[],
    ];
    return [...joinParted(left), ...joinParted(right)];
  });
}

/** Where most lines of a right column begin, which few lines cross. */
function findGutter(pieces: Piece[]): number | undefined {
  const [start, end] = edgesOf(pieces);
  const counts = new Map<number, number>();
  for (const piece of pieces) {
    const at = Math.round(leftOf(piece) / tolerance) * tolerance;
    const share = (at - start) / (end - start);
    if (share >= middle.from && share <= middle.to) counts.set(at, (counts.get(at) ?? 0) + 1);
  }
  const [best] = [...counts].sort(([, one], [, other]) => other - one);
  return best && best[1] >= minLines ? best[0] - tolerance : undefined;
}

/** Runs of pieces that stand in one of the columns each, and what crosses both, alone. */
function blocksOf(pieces: Piece[], gutter: number): Piece[][] {
  const blocks: Piece[][] = [];
  let open: Piece[] | undefined;
  for (const piece of pieces) {
    if (leftOf(piece) < gutter && piece.right > gutter) {
      blocks.push([piece]);
      open = undefined;
      continue;
    }
    if (!open) {
      open = [];
      blocks.push(open);
    }
    open.push(piece);
  }
  return blocks;
}

function isInterleaved(block: Piece[], gutter: number): boolean {
  const sides = block.map((piece) => isLeft(piece, gutter));
  const left = block.filter((_, index) => sides[index]);
  const right = block.filter((_, index) => !sides[index]);
  const fewer = Math.min(left.length, right.length);
  const switches = sides.filter((side, index) => index > 0 && side !== sides[index - 1]).length;
  return fewer >= minLines && switches >= 2 * switching * fewer && isText(left) && isText(right);
}

/** Whether most lines of a column are about as long as it is wide, and have several words. */
function isText(column: Piece[]): boolean {
  const [start, end] = edgesOf(column);
  const full = column.filter((piece) => piece.right - leftOf(piece) >= (end - start) * filled);
  return full.length * 2 >= column.length && full.filter(({ text }) => text.split(/\s+/).length >= minWords).length * 2 >= full.length;
}

function isLeft(piece: Piece, gutter: number): boolean {
  return leftOf(piece) < gutter;
}

function leftOf({ x = 0 }: Piece): number {
  return x;
}

function edgesOf(pieces: Piece[]): [number, number] {
  let [start, end] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
  for (const piece of pieces) [start, end] = [Math.min(start, leftOf(piece)), Math.max(end, piece.right)];
  return [start, end];
}

function fromTop(one: Piece, other: Piece): number {
  return (other.y ?? 0) - (one.y ?? 0);
}
