import type { Grey } from './grey.ts';

const white = 255;
/** How dark a rule is at least, in levels: rules are often lighter than print. */
const lightest = 190;
/** How many pixels at its edge are grey, also of a picture that was made larger. */
const widestEdge = 3;
/** So much of a stretch is thin if it is a rule: the rest is crossed by print. */
const leastThin = 0.6;

/** What a pixel is part of: a rule that runs across, or down, or what crosses one. */
const marks = { across: 1, down: 2, crossesAcross: 4, crossesDown: 8 };
const rules = marks.across | marks.down;
const crossing = marks.crossesAcross | marks.crossesDown;

/**
 * Takes the rules of tables and forms out of a picture, in place: dark stretches that are longer than letters and thinner than their strokes.
 * Print that crosses them stays. `letter` is the height of small letters in pixels. Returns for each pixel of which
 * rules it was erased: 1 of one that runs across, 2 of one that runs down, 3 of both, 0 of none.
 */
export function eraseRules({ data, width, height }: Grey, letter: number): Uint8Array {
  const shortest = Math.max(40, Math.round(letter * 4));
  const thickest = Math.max(2, Math.round(letter * 0.5));
  const marked = new Uint8Array(data.length);
  const common = { data, marked, thickest };
  // Both are found before one is erased, since they cross.
  findRules({ ...common, length: width, lines: height, step: 1, next: width, rule: marks.across, crosses: marks.crossesAcross }, shortest);
  findRules({ ...common, length: height, lines: width, step: width, next: 1, rule: marks.down, crosses: marks.crossesDown }, shortest);
  for (let index = 0; index < data.length; index += 1) {
    const mark = marked[index] as number;
    if (mark === 0) continue;
    const erased = mark === crossing ? rules : mark & rules;
    marked[index] = erased;
    if (erased !== 0) data[index] = white;
  }
  return marked;
}

interface Raster {
  data: Uint8Array;
  marked: Uint8Array;
  length: number;
  lines: number;
  /** From a pixel to the next one of its line, and to the same one of the next line. */
  step: number;
  next: number;
  thickest: number;
  /** The marks of a rule of this direction, and of what crosses it. */
  rule: number;
  crosses: number;
}

/** Marks the rules along the lines of a raster. A stretch that is long enough is met by steps of its least length. */
function findRules(raster: Raster, shortest: number): void {
  const { data, length, lines, step, next } = raster;
  for (let line = 0; line < lines; line += 1) {
    const isDark = (at: number) => (data[line * next + at * step] as number) < lightest;
    for (let at = shortest - 1; at < length; at += shortest) {
      if (!isDark(at)) continue;
      let [start, end] = [at, at + 1];
      while (start > 0 && isDark(start - 1)) start -= 1;
      while (end < length && isDark(end)) end += 1;
      if (end - start >= shortest) markRun(raster, { line, start, end });
      // The next step is beyond this stretch.
      while (at + shortest < end) at += shortest;
    }
  }
}

/** Marks a run of dark pixels, with the grey ones at its edges, unless it is part of a dark area, or of a row of print that touches. */
function markRun(raster: Raster, { line, start, end }: { line: number; start: number; end: number }): void {
  const { marked, step, next, thickest, rule, crosses } = raster;
  const isThin = (at: number) =>
    reach(raster, at, line, -1, lightest, thickest) + reach(raster, at, line, 1, lightest, thickest) < thickest;
  let thin = 0;
  for (let at = start; at < end; at += 1) if (isThin(at)) thin += 1;
  if (thin < (end - start) * leastThin) return;
  for (let at = start; at < end; at += 1) {
    const place = line * next + at * step;
    if (!isThin(at)) {
      marked[place] = (marked[place] as number) | crosses;
      continue;
    }
    for (const way of [-1, 1]) {
      const dark = reach(raster, at, line, way, lightest, thickest);
      const far = dark + reach(raster, at, line + way * dark, way, white, widestEdge);
      for (let off = 0; off <= far; off += 1) {
        const index = place + way * off * next;
        marked[index] = (marked[index] as number) | rule;
      }
    }
  }
}

/** Counts the pixels next to one, across its line, that are darker than a level: at most `most`, up to the first that is not. */
function reach({ data, lines, step, next }: Raster, at: number, line: number, way: number, level: number, most: number): number {
  for (let far = 0; far < most; far += 1) {
    const beyond = line + way * (far + 1);
    if (beyond < 0 || beyond >= lines || (data[beyond * next + at * step] as number) >= level) return far;
  }
  return most;
}
