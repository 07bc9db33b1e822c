import { countCharacters } from '../characters.ts';

/** A heading as a reader of documents finds it: its first line in the text, and its title. */
export interface RawHeading {
  /** 1 is the outermost. */
  level: number;
  line: string;
  title: string;
  /** The page that it stands on, from 0; absent or 0 for kinds without pages. */
  page?: number;
}

/** Where the parts of a text begin, in characters (code points). */
export interface Outline {
  /** Where each page begins, of those that were read; null for kinds without pages. */
  page_starts: number[] | null;
  headings: { level: number; start: number; title: string }[];
}

/** A heading of the text that a reader has found in it; none if there is no text. */
export function toHeadings(level: number, text: string, page?: number): RawHeading[] {
  const title = text.trim();
  if (title === '') return [];
  return [{ level, title, line: title.split('\n', 1)[0] ?? '', ...(page === undefined ? {} : { page }) }];
}

const mostHeadings = 5_000;
const longestTitle = 200;
/** A heading that is not where it should be is passed over, if one of so many next ones is there. */
const lookAhead = 8;

/** Pages are joined by an empty line; those without text add nothing. */
export const pageSeparator = '\n\n';

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

/** Finds the headings of a document in its text, in their order, each on its page. One that has no line of its own is left out. */
export function locateHeadings(text: string, headings: RawHeading[], pageStarts: number[] | null): Outline['headings'] {
  const found: Outline['headings'] = [];
  const wanted = headings.map(({ line }) => collapse(line));
  const startOfPage = ({ page = 0 }: RawHeading) => pageStarts?.[page] ?? 0;
  const findWanted = (line: string, at: number, first: number) =>
    headings.slice(first, first + lookAhead).findIndex((heading, index) => wanted[first + index] === line && at >= startOfPage(heading));
  let [next, start] = [0, 0];
  for (const line of text.split('\n')) {
    if (next >= headings.length || found.length >= mostHeadings) break;
    const at = line.trim() === '' ? -1 : findWanted(collapse(line), start, next);
    const heading = at === -1 ? undefined : headings[next + at];
    if (heading) {
      const indent = line.length - line.trimStart().length;
      found.push({ level: heading.level, start: start + indent, title: [...collapse(heading.title)].slice(0, longestTitle).join('') });
      next += at + 1;
    }
    start += countCharacters(line) + 1;
  }
  return found;
}

/** A text with one space in place of each run of white space, and none around it. */
export function collapse(text: string): string {
  return text.replace(/\s+/g, ' ').trim();
}
