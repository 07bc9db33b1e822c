import type { Line } from './page-line.ts';
import { lineThresholds } from './pdf-thresholds.ts';

const { paragraphGap, headingRatio } = lineThresholds;
/** Where PDFium has joined lines at a hyphen that belongs to the word: `Anglo-American`, `COVID-19`. */
const ownHyphen = /(?<=\p{Ll})\ufffe(?=\p{Lu})|\ufffe(?=\p{N}|$)/gu;

/**
 * The text of a page from its lines, with its line breaks. PDF has no paragraphs, but splitting into sentences and chunks needs
 * them, so an empty line is inserted at each wider gap and each change of font size or weight.
 */
export function layOutLines(lines: Line[]): string {
  const usualStep = usualStepOf(lines);
  let text = '';
  let shown: Line | undefined;
  for (const [index, line] of lines.entries()) {
    if (line.text === '') continue;
    const isParted = shown?.table !== line.table || (line.table === undefined && startsParagraph(lines[index - 1], line, usualStep));
    if (shown) text += isParted ? '\n\n' : '\n';
    text += line.text.replace(ownHyphen, '-');
    shown = line;
  }
  return text;
}

/** The distance between most lines of a page; undefined if none is known. */
export function usualStepOf(lines: Line[]): number | undefined {
  const known = lines
    .map((line, index) => stepBetween(lines[index - 1], line))
    .filter((step) => step !== undefined)
    .sort((a, b) => a - b);
  return known[Math.floor(known.length / 2)];
}

/** The distance from the previous baseline down to this one; undefined at the top of a column. */
export function stepBetween(previous: Line | undefined, line: Line): number | undefined {
  const above = previous?.endY ?? previous?.y;
  if (above === undefined || line.y === undefined) return undefined;
  const step = above - line.y;
  return step > 0.5 ? step : undefined;
}

function startsParagraph(previous: Line | undefined, line: Line, usualStep: number | undefined): boolean {
  const step = stepBetween(previous, line);
  if (previous === undefined || step === undefined) return false;
  if (usualStep !== undefined && step > usualStep * paragraphGap) return true;
  if (previous.bold !== line.bold) return true;
  const [small = 0, large = 0] = [previous.size ?? 0, line.size ?? 0].sort((a, b) => a - b);
  return small > 0 && large > small * headingRatio;
}
