import type { Typed } from './form-and-annotation-text.ts';
import { type Box, turnBox } from './page-box.ts';
import type { PageCharacters } from './page-characters.ts';
import type { RawLine } from './page-text.ts';
import { typedThresholds } from './pdf-thresholds.ts';

const { usualSize, afterLabel, belowBaseline, widthOfLetter, maxLineLength } = typedThresholds;
/** What a form draws where something is to be written or ticked. */
const blank = /[_.\u2026\u00b7\s\u2500\u2610\u25a1\u2751\u274f\u2752o]/;

/** What is written behind a label is no cell of its own. */
const labelEnd = /[:\uff1a]\s*$/;

/** A line and where it stands. */
interface Placed {
  line: RawLine;
  left: number;
  right: number;
  y: number;
  size: number;
}

/**
 * The lines of a page with what stands upon it: within the line at whose height it is, such as behind the label of a field, else between the
 * lines above and below. `turns` is how many quarters clockwise the page is shown turned.
 */
export function addTyped(lines: RawLine[], typed: Typed[], characters: PageCharacters, turns: number): RawLine[] {
  const all = [...lines];
  const placed = lines.flatMap((line) => placeOf(line, characters) ?? []);
  const boxed = typed.map((one) => ({ ...one, box: turnBox(one.box, turns) }));
  boxed.sort((one, other) => other.box.top - one.box.top || one.box.left - other.box.left);
  for (const { text, box, tick } of boxed) {
    const beside = text.includes('\n') ? undefined : findBeside(placed, box, tick);
    if (beside) {
      insert(beside, { text, box, tick }, characters);
      continue;
    }
    const above = findAbove(placed, box);
    const made = text.split('\n').map((part, index) => makeLine({ part, index, box }, above?.size ?? usualSize, characters));
    all.splice(above ? all.indexOf(above.line) + 1 : 0, 0, ...made.map(({ line }) => line));
    placed.splice(above ? placed.indexOf(above) + 1 : 0, 0, ...made);
  }
  return all;
}

function placeOf(line: RawLine, characters: PageCharacters): Placed | undefined {
  const text = line.raw.trimEnd();
  const first = line.at[text.length - text.trimStart().length];
  if (text === '' || first === undefined) return undefined;
  const [start, end] = [characters.extentOf(first), characters.extentOf(line.at[text.length - 1])];
  const [, y] = characters.originOf(first);
  const { scale, upright } = characters.formOf(first);
  if (!start || !end || y === undefined || !upright) return undefined;
  const size = characters.fontSizeOf(first) * scale;
  return { line, left: Math.min(start[0], end[0]), right: Math.max(start[1], end[1]), y, size };
}

/** The line at whose height a box stands: the next one at its left, else the one around it or at its right. */
function findBeside(placed: Placed[], box: Box, tick: boolean): Placed | undefined {
  const level = placed.filter(
    ({ line, y, size }) =>
      line.raw.length <= maxLineLength && y >= box.bottom - belowBaseline * size && y <= box.top - (tick ? 0 : belowBaseline * size),
  );
  const distance = ({ left, right }: Placed) => (left < box.left ? Math.max(0, box.left - right) : left - box.left + 0.5);
  return level.sort((one, other) => distance(one) - distance(other))[0];
}

/** The lowest line above a box, one over or under the same stretch of the page before others. */
function findAbove(placed: Placed[], box: Box): Placed | undefined {
  const above = placed.filter(({ y }) => y >= box.top).sort((one, other) => one.y - other.y);
  const lowest = above[0];
  return above.find((one) => one.left < box.right && one.right > box.left) ?? lowest;
}

function makeLine({ part, index, box }: { part: string; index: number; box: Box }, size: number, characters: PageCharacters): Placed {
  const y = Math.max(box.bottom, box.top - size * (1 + 1.2 * index));
  return { line: { raw: part, at: addCharacters(part, { box, y, size }, characters) }, left: box.left, right: box.right, y, size };
}

/** Inserts a text into a line where its box stands, in place of what is drawn there for it to be written upon. */
function insert(placed: Placed, { text, box }: Typed, characters: PageCharacters): void {
  const { line, y, size } = placed;
  const centers = line.at.map((index) => {
    const extent = characters.extentOf(index);
    return extent && (extent[0] + extent[1]) / 2;
  });
  const isLeftward = (centers[0] ?? 0) > (centers[line.raw.trimEnd().length - 1] ?? 0);
  const isBehind = (center: number | undefined) => center !== undefined && (isLeftward ? center < box.right : center > box.left);
  const found = centers.findIndex(isBehind);
  let start = found < 0 ? line.raw.length : found;
  let end = start;
  while (end < line.raw.length && blank.test(line.raw[end] ?? '') && isInside(centers[end], box)) end += 1;
  // Underscores that reach out of the box.
  while (end > start && line.raw[start - 1] === '_') start -= 1;
  while (end > start && line.raw[end] === '_') end += 1;
  const [before, behind] = [line.raw.slice(0, start), line.raw.slice(end)];
  const label = labelEnd.test(before) ? characters.extentOf(line.at[before.trimEnd().length - 1]) : undefined;
  const left = label && !isLeftward ? Math.min(box.left, label[1] + afterLabel * size) : box.left;
  const at = addCharacters(text, { box: { ...box, left }, y, size }, characters);
  const [open, close] = [/\S$/.test(before) ? ' ' : '', /^\S/.test(behind) ? ' ' : ''];
  const [first = 0, last = 0] = [at[0], at.at(-1)];
  line.raw = before + open + text + close + behind;
  line.at = [...line.at.slice(0, start), ...(open ? [first] : []), ...at, ...(close ? [last] : []), ...line.at.slice(end)];
  placed.left = Math.min(placed.left, box.left);
  placed.right = Math.max(placed.right, box.right);
}

function isInside(center: number | undefined, { left, right }: Box): boolean {
  return center === undefined || (center >= left && center <= right);
}

/** Characters that stand within a box from its left, or in all of it if it is narrow. */
function addCharacters(text: string, { box, y, size }: { box: Box; y: number; size: number }, characters: PageCharacters): number[] {
  const width = Math.min(widthOfLetter * size, (box.right - box.left) / Math.max(1, text.length));
  return Array.from({ length: text.length }, (_, index) => {
    const x = box.left + index * width;
    return characters.add({ x, right: x + width, y, size });
  });
}
