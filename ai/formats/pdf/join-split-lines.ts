import type { Line } from './page-line.ts';

/** The hyphens that programs which part words write at the end of a line. */
const hyphens = /\p{L}[-\u2010\ufffe]$/u;
/** Chromium, WeasyPrint and newer TeX part words with U+2010, at which PDFium joins nothing. */
const unjoined = /\p{L}\u2010$/u;
const goesOn = /^\p{Ll}/u;

/** Joins words that line ends part, in lines that PDFium did not read one after the other. */
export function joinParted(lines: Line[]): Line[] {
  return join(lines, hyphens);
}

/** Joins words that line ends part with a hyphen at which PDFium does not join them. */
export function joinLeftParted(lines: Line[]): Line[] {
  return join(lines, unjoined);
}

function join(lines: Line[], parting: RegExp): Line[] {
  const runs: [Line, ...Line[]][] = [];
  for (const line of lines) {
    const run = runs.at(-1);
    if (run && parting.test(run.at(-1)?.text ?? '') && goesOn.test(line.text)) run.push(line);
    else runs.push([line]);
  }
  return runs.map((run) => (run.length === 1 ? run[0] : toOne(run)));
}

function toOne(run: [Line, ...Line[]]): Line {
  const last = run.at(-1) as Line;
  const text = run.map((line) => (line === last ? line.text : line.text.slice(0, -1))).join('');
  return { ...run[0], parts: [], text, endY: last.endY ?? last.y };
}
