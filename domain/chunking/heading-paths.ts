import type { Outline } from '../../db/schema.ts';
import { forward } from '../characters.ts';
import { lastWhere, partitionPoint } from './binary-search.ts';

/** A heading in a text, with the titles of the headings above it, the outermost first, and its own at the end. */
export interface LocatedHeading {
  /** An index of the text; outlines count characters instead. */
  start: number;
  path: string[];
}

/** Finds the headings of an outline in their text. */
export function locateHeadings(text: string, headings: Outline['headings']): LocatedHeading[] {
  const open: Outline['headings'] = [];
  let [at, passed] = [0, 0];
  return headings.map((heading) => {
    openHeading(open, heading);
    at = forward(text, at, heading.start - passed);
    passed = heading.start;
    return { start: at, path: open.map(({ title }) => title) };
  });
}

/** The titles of the headings that a position of the text is under, the outermost first. */
export function pathAt(headings: Outline['headings'], position: number): string[] {
  const path: string[] = [];
  let level = Number.POSITIVE_INFINITY;
  for (let at = partitionPoint(headings, ({ start }) => start <= position) - 1; at >= 0 && level > 1; at -= 1) {
    const heading = headings[at];
    if (!heading || heading.level >= level) continue;
    path.unshift(heading.title);
    level = heading.level;
  }
  return path;
}

/** Ends the headings that a new one is not under. */
function openHeading(open: Outline['headings'], heading: Outline['headings'][number]): void {
  while ((open.at(-1)?.level ?? 0) >= heading.level) open.pop();
  open.push(heading);
}

/** The last heading at or before an index; undefined if there is none. */
export function headingAt(headings: LocatedHeading[], index: number): LocatedHeading | undefined {
  return lastWhere(headings, ({ start }) => start <= index);
}
