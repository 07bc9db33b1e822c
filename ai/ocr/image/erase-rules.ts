import type { Grey } from './grey.ts';

const white = 255;
/** How dark a rule is at least, in levels: rules are often lighter than print. */
const lightest = 190;
/** How many pixels at its edge are grey, also of a picture that was made larger. */
const widestEdge = 3;
/** So much of a stretch is thin if it is a rule: the rest is crossed by print. */
const leastThin = 0.6;

/**
 * Takes the rules of tables and forms out of a picture, in place: dark stretches that are longer than letters and thinner than their strokes.
 * Print that crosses them stays. `letter` is the height of small letters in pixels.
 */
export function eraseRules({ data, width, height }: Grey, letter: number): void {
  const shortest = Math.max(40, Math.round(letter * 4));
  const thickest = Math.max(2, Math.round(letter * 0.35));
  const across = { data, length: width, lines: height, step: 1, next: width };
  const down = { data, length: height, lines: width, step: width, next: 1 };
  // Both are found before one is erased, since they cross.
  const found = [across, down].map((raster) => findRules(raster, shortest, thickest));
  const acrossThick = new Set(found[0]?.thick);
  for (const { thin } of found) for (const index of thin) data[index] = white;
  for (const index of found[1]?.thick ?? []) if (acrossThick.has(index)) data[index] = white;
}

interface Raster {
  data: Uint8Array;
  length: number;
  lines: number;
  /** From a pixel to the next one of its line, and to the same one of the next line. */
  step: number;
  next: number;
}

/** The pixels of rules: where they are thin, with the grey ones at their edges, and where something crosses. */
interface Rules {
  thin: number[];
  thick: number[];
}

/** The rules along the lines of a raster. */
function findRules(raster: Raster, shortest: number, thickest: number): Rules {
  const { data, length, lines, step, next } = raster;
  const rules: Rules = { thin: [], thick: [] };
  for (let line = 0; line < lines; line += 1) {
    for (let at = 0; at < length; at += 1) {
      if ((data[line * next + at * step] as number) >= lightest) continue;
      const start = at;
      while (at < length && (data[line * next + at * step] as number) < lightest) at += 1;
      if (at - start >= shortest) addRun(raster, { line, start, end: at, thickest }, rules);
    }
  }
  return rules;
}

/** Adds a run of dark pixels, unless it is part of a dark area, or of a row of print that touches. */
function addRun(
  { data, lines, step, next }: Raster,
  run: { line: number; start: number; end: number; thickest: number },
  rules: Rules,
): void {
  const extents: [number, number][] = [];
  for (let at = run.start; at < run.end; at += 1) {
    const isDark = (line: number) => line >= 0 && line < lines && (data[line * next + at * step] as number) < lightest;
    let [first, last] = [run.line, run.line];
    while (isDark(first - 1) && run.line - first <= run.thickest) first -= 1;
    while (isDark(last + 1) && last - run.line <= run.thickest) last += 1;
    extents.push([first, last]);
  }
  const isThin = ([first, last]: [number, number]) => last - first < run.thickest;
  if (extents.filter(isThin).length < extents.length * leastThin) return;
  for (const [index, extent] of extents.entries()) {
    const along = (run.start + index) * step;
    if (!isThin(extent)) {
      rules.thick.push(run.line * next + along);
      continue;
    }
    const isGrey = (line: number) => line >= 0 && line < lines && (data[line * next + along] as number) < white;
    let [first, last] = extent;
    for (let edge = 0; edge < widestEdge && isGrey(first - 1); edge += 1) first -= 1;
    for (let edge = 0; edge < widestEdge && isGrey(last + 1); edge += 1) last += 1;
    for (let line = first; line <= last; line += 1) rules.thin.push(line * next + along);
  }
}
