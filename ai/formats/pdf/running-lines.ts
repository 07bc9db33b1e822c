import type { Line } from './page-line.ts';
import { runningThresholds } from './pdf-thresholds.ts';

const { maxAtEdge, minPages, maxPagesBetween, maxLineLength, tolerance } = runningThresholds;
interface EdgeLine {
  line: Line;
  page: number;
  y: number;
  /** What it says has a number beside other words, which is not named as that of the page. */
  isBeside: boolean;
}

/**
 * Removes running headers and footers: lines at the same height of several nearby pages that have the same text except for the page number.
 * A text that stands only in such lines is kept where it is first. Pages without any other line keep theirs, and so do pages with unknown
 * heights.
 */
export function leaveOutRunningLines(pages: Line[][]): Line[][] {
  const left = new Set<Line>();
  const firsts = new Set<Line>();
  for (const group of groupLines(pages)) {
    for (const run of runsOf(group)) {
      if (run.length < minPages || !isOfPages(run)) continue;
      for (const { line } of run) left.add(line);
      if (run[0]) firsts.add(run[0].line);
    }
  }
  const others = pages.flat().filter((line) => !left.has(line));
  const elsewhere = ` ${others.map(({ text }) => wordsOf(text)).join(' ')} `;
  for (const line of firsts) {
    const words = wordsOf(line.text);
    if (words !== '' && !elsewhere.includes(` ${words} `)) left.delete(line);
  }
  return pages.map((lines) => {
    const kept = lines.filter((line) => line.text === '' || !left.has(line));
    return kept.some(({ text }) => text !== '') ? kept : lines;
  });
}

/** Lines that say the same, by their pages. A line with numbers is in several groups: any of them may be that of the page. */
function groupLines(pages: Line[][]): Iterable<EdgeLine[]> {
  const groups = new Map<string, EdgeLine[]>();
  for (const [page, lines] of pages.entries()) {
    for (const { line, y } of edgeLines(lines)) {
      for (const { key, isBeside } of keysOf(line.text, page)) {
        const group = groups.get(key);
        if (group) group.push({ line, page, y, isBeside });
        else groups.set(key, [{ line, page, y, isBeside }]);
      }
    }
  }
  return groups.values();
}

/** The highest and the lowest lines of a page, if there are others between them. */
function edgeLines(lines: Line[]): { line: Line; y: number }[] {
  const known = lines.flatMap((line) => (line.y === undefined || line.text === '' ? [] : { line, y: line.y }));
  known.sort((one, other) => other.y - one.y);
  const count = Math.min(maxAtEdge, Math.floor((known.length - 1) / 2));
  const edges = count === 0 ? known : [...known.slice(0, count), ...known.slice(-count)];
  return known.length < 2 ? [] : edges.filter(({ line }) => line.text.length <= maxLineLength);
}

/** The text of a line, and its text for each number in it that may be the page's. */
function keysOf(text: string, page: number): { key: string; isBeside: boolean }[] {
  const plain = text.toLowerCase().replace(/\s+/g, ' ');
  const relative = [...plain.matchAll(pageNumber)].map(({ 0: found, index }) => {
    const [before, behind] = [plain.slice(0, index), plain.slice(index + found.length)];
    const number = found.replace(/\d{1,4}/, (digits) => `\u0000${Number(digits) - page}\u0000`);
    return { key: before + number + behind, isBeside: !/[\p{L}/]/u.test(found) && /[\p{L}\p{N}]/u.test(before + behind) };
  });
  return [{ key: plain, isBeside: false }, ...relative];
}

/** Numbers of invoices count up from page to page, too: beside other words, a number is the page's if only each second page has it. */
function isOfPages(run: EdgeLine[]): boolean {
  return run.every(({ page, isBeside }, index) => !isBeside || index === 0 || (page - (run[index - 1]?.page ?? 0)) % 2 === 0);
}

/** Lines of pages that are near each other, at about the same height. */
function runsOf(group: EdgeLine[]): EdgeLine[][] {
  const runs: EdgeLine[][] = [];
  for (const one of group) {
    const run = runs.findLast((lines) => {
      const last = lines.at(-1) as EdgeLine;
      return one.page > last.page && one.page - last.page <= maxPagesBetween && Math.abs(one.y - last.y) <= tolerance;
    });
    if (run) run.push(one);
    else runs.push([one]);
  }
  return runs;
}

/** `Page 12 of 80`, `S. 12`, `12/80`, `- 12 -`. */
const pageNumber =
  /(?:\b(?:page|pages|seite|pagina|página|side|sida|strona|blatt|folio|pp?|s)\b\.?\s*)?\p{N}+(?:\s*(?:of|von|de|di|van|av|af|sur|z|\/)\s*\p{N}+)?/giu;

/** The text of a line without the page's number. */
function wordsOf(text: string): string {
  return text
    .replace(pageNumber, ' ')
    .toLowerCase()
    .replace(/[^\p{L}]+/gu, ' ')
    .trim();
}
