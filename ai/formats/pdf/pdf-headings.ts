import { closeHeading, openHeading } from '../outline.ts';
import { stepBetween, usualStepOf } from './lay-out-page.ts';
import type { Line } from './page-line.ts';
import { headingThresholds } from './pdf-thresholds.ts';

const { clearlyLarger, spaceAbove, maxStep, maxLines, maxHeadingLength, minText, maxShare, deepestLevel } = headingThresholds;
/** The type of a line: rounded, so that lines of one form are equal. */
interface Type {
  size: number;
  bold: boolean;
}

interface Candidate extends Type {
  page: number;
  lines: Line[];
  /** Of all lines of the document, that of its first and the one after its last. */
  first: number;
  end: number;
}

/** A line with its page, and whether it stands apart from the one before. */
interface PlacedLine {
  line: Line;
  page: number;
  step: number | undefined;
  apart: boolean;
}

/**
 * Marks the headings among the lines of a PDF: short lines with text below them that are clearly larger than the text, or bold and set
 * apart. There are at most three levels, by size. Labels of a form, heads of tables and bold sentences are not headings.
 */
export function markPdfHeadings(pages: Line[][]): Line[][] {
  const marked = new Map<Line, Line>();
  const change = (line: Line | undefined, toText: (text: string) => string) => {
    if (line) marked.set(line, { ...line, text: toText(marked.get(line)?.text ?? line.text) });
  };
  for (const { level, lines } of findHeadings(pages)) {
    change(lines[0], (text) => openHeading(level) + text);
    change(lines.at(-1), (text) => text + closeHeading());
  }
  return pages.map((lines) => lines.map((line) => marked.get(line) ?? line));
}

function findHeadings(pages: Line[][]): { level: number; lines: Line[] }[] {
  const lines = placeLines(pages);
  const body = findBody(lines);
  if (!body) return [];
  const candidates = groupLines(lines, body).filter((one) => isTitle(one, body));
  const charactersBefore = sumCharacters(lines);
  const inHeadings = candidates.reduce((sum, { first, end }) => sum + charactersBetween(charactersBefore, first, end), 0);
  if (inHeadings > charactersBetween(charactersBefore, 0, lines.length) * maxShare) return [];
  const kept = keepForms(candidates, charactersBefore, body);
  return kept.flatMap((headings, rank) => headings.map((one) => ({ level: Math.min(rank + 1, deepestLevel), lines: one.lines })));
}

function placeLines(pages: Line[][]): PlacedLine[] {
  return pages.flatMap((all, page) => {
    const lines = all.filter(({ text }) => text !== '');
    const usual = usualStepOf(lines);
    return lines.map((line, index) => {
      const step = stepBetween(lines[index - 1], line);
      return { line, page, step, apart: step === undefined || usual === undefined || step >= usual * spaceAbove };
    });
  });
}

/** The type in which most characters are set. */
function findBody(lines: PlacedLine[]): Type | undefined {
  const [sizes, bold] = [new Map<number, number>(), new Map<number, number>()];
  for (const { line } of lines) {
    if (line.size === undefined || !line.upright) continue;
    const size = roundSize(line.size);
    sizes.set(size, (sizes.get(size) ?? 0) + line.text.length);
    if (line.bold) bold.set(size, (bold.get(size) ?? 0) + line.text.length);
  }
  const [most] = [...sizes].sort(([, one], [, other]) => other - one);
  return most && { size: most[0], bold: (bold.get(most[0]) ?? 0) > most[1] / 2 };
}

/** Lines below each other in one type that is that of headings. */
function groupLines(lines: PlacedLine[], body: Type): Candidate[] {
  const groups: Candidate[] = [];
  for (const [index, { line, page, step, apart }] of lines.entries()) {
    const type = typeOf(line);
    if (!type || (!isLarger(type, body) && !isBolder(type, body))) continue;
    const above = groups.at(-1);
    const goesOn = above && above.end === index && above.page === page && sameType(above, type);
    if (goesOn && step !== undefined && step <= type.size * maxStep) {
      above.lines.push(line);
      above.end = index + 1;
    } else if (apart || isLarger(type, body)) groups.push({ ...type, page, lines: [line], first: index, end: index + 1 });
  }
  return groups;
}

function typeOf({ size, bold, upright, table }: Line): Type | undefined {
  return size === undefined || size <= 0 || !upright || table !== undefined ? undefined : { size: roundSize(size), bold };
}

function isLarger({ size }: Type, body: Type): boolean {
  return size >= body.size * clearlyLarger;
}

function isBolder({ size, bold }: Type, body: Type): boolean {
  return bold && !body.bold && size >= body.size;
}

const numbering = /^[\p{N}.()§-]+\s+/u;

/** The leader from a title to its page number in a table of contents. */
const leaders = /(?:\.\s?){4}/;

/** Whether lines read as a title: few, mostly letters, neither a sentence nor a label, and no row of a table. */
function isTitle({ lines, ...type }: Candidate, body: Type): boolean {
  const text = lines.map((line) => line.text).join(' ');
  const plain = text.replace(numbering, '');
  const letters = plain.match(/\p{L}/gu)?.length ?? 0;
  if (lines.length > maxLines || text.length > maxHeadingLength || letters < 2) return false;
  if (letters * 2 < plain.replace(/\s/g, '').length || /[,;:]$/.test(text) || leaders.test(text)) return false;
  // After a number there is a gap before many titles.
  if (lines.some((line) => line.gapped && line.text === line.text.replace(numbering, ''))) return false;
  return !/[.。]$/.test(text) || (isLarger(type, body) && plain.split(/\s+/).length <= 8);
}

/** Headings that have text beneath them, by their forms, of which the outermost is the first. */
function keepForms(candidates: Candidate[], charactersBefore: number[], body: Type): Candidate[][] {
  const forms = Map.groupBy(candidates, ({ size, bold }) => `${size} ${bold}`);
  const outermostFirst = [...forms.values()].sort(([one], [other]) => compareTypes(one as Type, other as Type));
  const [kept, ends]: [Candidate[][], Candidate[]] = [[], []];
  for (const form of outermostFirst) {
    const merged = [...ends, ...form].sort((one, other) => one.first - other.first);
    const beneath = new Map(
      merged.map((one, index) => [
        one,
        charactersBetween(charactersBefore, one.end, merged[index + 1]?.first ?? charactersBefore.length - 1),
      ]),
    );
    const lengths = form.map((one) => beneath.get(one) ?? 0).sort((one, other) => one - other);
    const least = isLarger(form[0] as Type, body) ? minText.larger : minText.bold;
    if ((lengths[Math.floor(lengths.length / 2)] ?? 0) < least) continue;
    const headings = form.filter((one) => beneath.get(one) !== 0);
    kept.push(headings);
    ends.push(...headings);
  }
  return kept;
}

function compareTypes(one: Type, other: Type): number {
  return other.size - one.size || Number(other.bold) - Number(one.bold);
}

/** How many characters there are before each line, and in all at the end. */
function sumCharacters(lines: PlacedLine[]): number[] {
  const sums = [0];
  for (const { line } of lines) sums.push((sums.at(-1) ?? 0) + line.text.length);
  return sums;
}

function charactersBetween(before: number[], first: number, end: number): number {
  return (before[end] ?? 0) - (before[first] ?? 0);
}

function sameType(one: Type, other: Type): boolean {
  return one.size === other.size && one.bold === other.bold;
}

function roundSize(size: number): number {
  return Math.round(size * 2) / 2;
}
