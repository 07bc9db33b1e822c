import type { PageCharacters } from './page-characters.ts';
import type { RawLine } from './page-text.ts';
import { lineThresholds } from './pdf-thresholds.ts';

const { smallerRaised, raisedBy, raisedAtMost, besideRaised, withinWord } = lineThresholds;

/** Joins lines that PDFium parts before or behind a raised sign, such as the mark of a note. */
export function joinRaised(lines: RawLine[], characters: PageCharacters): RawLine[] {
  const joined: { raw: string[]; at: number[][] }[] = [];
  let last: RawLine | undefined;
  for (const line of lines) {
    const open = joined.at(-1);
    if (open && last && isBesideRaised(last, line, characters)) {
      open.raw.push(line.raw);
      open.at.push(line.at);
    } else joined.push({ raw: [line.raw], at: [line.at] });
    last = line;
  }
  return joined.map(({ raw, at }) => ({ raw: raw.join(''), at: at.flat() }));
}

/** Whether a line goes on right behind another one, and one of the signs that meet is raised. */
function isBesideRaised(line: RawLine, next: RawLine, characters: PageCharacters): boolean {
  const one = line.at[line.raw.trimEnd().length - 1];
  const other = next.at[next.raw.length - next.raw.trimStart().length];
  if (one === undefined || other === undefined) return false;
  const sizeOf = (index: number) => characters.fontSizeOf(index) * characters.formOf(index).scale;
  const [size, nextSize] = [sizeOf(one), sizeOf(other)];
  // A mark before a number would become a part of it.
  if (size < nextSize && /\d$/.test(line.raw) && /^\d/.test(next.raw)) return false;
  const larger = Math.max(size, nextSize);
  if (Math.min(size, nextSize) > larger * smallerRaised) return false;
  const [, y] = characters.originOf(one);
  const [, nextY] = characters.originOf(other);
  const [, right] = characters.extentOf(one) ?? [];
  const [left] = characters.extentOf(other) ?? [];
  if (y === undefined || nextY === undefined || right === undefined || left === undefined) return false;
  if (left - right > withinWord * larger && /\p{L}$/u.test(line.raw) && /^\p{L}/u.test(next.raw)) return false;
  const raised = (size < nextSize ? y - nextY : nextY - y) / larger;
  return raised >= raisedBy && raised <= raisedAtMost && Math.abs(left - right) <= besideRaised * larger;
}
