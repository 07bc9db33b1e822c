/**
 * What a reader left out or had to guess, and why. `docs/extraction.md` lists the codes, which are only ever added; the text is a sentence
 * for people, which may quote the document.
 */
export interface Notice {
  code: NoticeCode;
  text: string;
}

export type NoticeCode =
  /** Pages are pictures of text, and reading those is off. */
  'scan_not_read';

/** How many a document has at most, and how many characters the text of each: they are listed with it. */
export const maxNotices = 20;
export const maxNoticeCharacters = 300;

/** Some of many runs of pages tell no more than their number. */
const maxRuns = 8;

/** Names pages, given from 0 in their order, to begin a sentence: `Page 2`, `Pages 1 to 3, 7`. */
export function namePages(indexes: number[]): string {
  const runs: { first: number; last: number }[] = [];
  for (const index of indexes) {
    const run = runs.at(-1);
    if (run && run.last === index) run.last = index + 1;
    else runs.push({ first: index + 1, last: index + 1 });
  }
  if (runs.length > maxRuns) return `${indexes.length} pages`;
  const named = runs.map(({ first, last }) => (first === last ? `${first}` : `${first} to ${last}`));
  return `${indexes.length === 1 ? 'Page' : 'Pages'} ${named.join(', ')}`;
}
