import type { Outline } from '../../db/schema.ts';
import { forward } from '../characters.ts';
import { lastWhere } from './binary-search.ts';

/** A heading in a text, and the titles of the headings that it is under, the outermost first, with its own at the end. */
export interface PlacedHeading {
  /** An index of the text, where the outline has characters. */
  start: number;
  path: string[];
}

/** Finds the headings of an outline in their text. */
export function placeHeadings(text: string, headings: Outline['headings']): PlacedHeading[] {
  const open: Outline['headings'] = [];
  let [at, passed] = [0, 0];
  return headings.map((heading) => {
    while ((open.at(-1)?.level ?? 0) >= heading.level) open.pop();
    open.push(heading);
    at = forward(text, at, heading.start - passed);
    passed = heading.start;
    return { start: at, path: open.map(({ title }) => title) };
  });
}

/** The last heading that begins at an index or before it; undefined before all headings. */
export function headingAt(headings: PlacedHeading[], index: number): PlacedHeading | undefined {
  return lastWhere(headings, ({ start }) => start <= index);
}
