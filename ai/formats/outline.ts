import { countCharacters } from '../characters.ts';
import type { LocatedLine } from './locate-lines.ts';

/** Where the parts of a text begin, in characters (code points). */
export interface Outline {
  /** Where each page begins, of those that were read; null for kinds without pages. */
  page_starts: number[] | null;
  /** Where the last page ends, if more stands behind the pages. */
  pages_end?: number | undefined;
  headings: { level: number; start: number; title: string }[];
  /** The lines that text recognition has read; absent if none. */
  lines?: LocatedLine[];
}

// Readers mark headings within their text, because the same line may stand elsewhere in it, such as in a table of contents.
// The marks are noncharacters, which no text may hold. They are removed before the text leaves.
const firstMark = 0xfdd0;
const endMark = String.fromCharCode(firstMark);
const deepestLevel = 31;
const marks = /[\ufdd0-\ufdef]/g;
/** A heading on a line of its own, perhaps after signs of Markdown. Starts at the marks: a search from each blank would be quadratic. */
const ownLine = /([\ufdd1-\ufdef])(?<=^[^\S\n]*(#+[^\S\n]+)?.)([^\ufdd0-\ufdef]+)\ufdd0/gm;

/** The maximum number of headings in an outline. */
export const maxHeadings = 5_000;
const maxTitleLength = 200;

/** Marks a text as the title of a heading, 1 for the outermost, for {@link locateHeadings}. White space alone is not marked. */
export function markHeading(level: number, title: string): string {
  return title.trim() === '' ? title : `${openHeading(level)}${title}${endMark}`;
}

/** What stands before the title of a heading that goes over several lines; {@link closeHeading} stands behind it. */
export function openHeading(level: number): string {
  return String.fromCharCode(firstMark + Math.min(level, deepestLevel));
}

/** What stands behind the title of a heading. */
export function closeHeading(): string {
  return endMark;
}

/** A text without the marks of its headings. */
export function withoutMarks(text: string): string {
  return text.replace(marks, '');
}

/** A text that becomes a part of another, with its headings one level deeper. */
export function nestHeadings(text: string): string {
  return text.replace(/[\ufdd1-\ufdee]/g, (mark) => String.fromCharCode(mark.charCodeAt(0) + 1));
}

/** Pages are joined by an empty line; those without text add nothing. */
const pageSeparator = '\n\n';

/** The text of pages, of which each is cleaned already. */
export function joinPages(pages: string[]): string {
  return pages.filter((page) => page !== '').join(pageSeparator);
}

/** Where each page begins in the text of {@link joinPages}, at most at the text's end; one without text where the next one does. */
export function findPageStarts(pages: string[], characters: number): number[] {
  let end = 0;
  return pages.map((page) => {
    const start = end > 0 && page !== '' ? end + pageSeparator.length : end;
    if (page !== '') end = start + countCharacters(page);
    return Math.min(start, characters);
  });
}

/**
 * Finds the marked headings in the text of a page, which begins at a given character of the document. Leaves out those without a line of
 * their own, and those whose first line ends behind the given number of characters.
 */
export function locateHeadings(page: string, pageStart: number, characters: number): Outline['headings'] {
  const found: Outline['headings'] = [];
  let [passed, at] = [0, pageStart];
  for (const { 1: mark = '', 2: signs = '', 3: title = '', index } of page.matchAll(ownLine)) {
    at += countCharacters(withoutMarks(page.slice(passed, index)));
    passed = index;
    // A hostile text may hold such characters itself: then its headings mean nothing, but each still has a title.
    if (title.trim() === '') continue;
    const [line = ''] = title.split('\n', 1);
    if (at + countCharacters(line) > characters || found.length >= maxHeadings) break;
    const level = mark.charCodeAt(0) - firstMark;
    found.push({ level, start: at - signs.length, title: [...collapse(title)].slice(0, maxTitleLength).join('') });
  }
  return found;
}

/** A text with one space in place of each run of white space, and none around it. */
export function collapse(text: string): string {
  return text.replace(/\s+/g, ' ').trim();
}
