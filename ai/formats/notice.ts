/**
 * What a reader left out or had to guess, and why. `docs/extraction.md` lists the codes, which are only ever added; the text is a sentence
 * for people, which may quote the document.
 */
export interface Notice {
  code: NoticeCode | DocumentNoticeCode;
  text: string;
}

/** Each code, and what a notice of it says of some pages, which are named before it. */
const ofPages = {
  scan_not_read: { one: 'has a picture', more: 'have pictures', rest: ', in which text is not read while OCR_SCANNED_PDF is off.' },
  scan_over_limit: {
    one: 'has a picture',
    more: 'have pictures',
    rest: ', in which text was not read: the time for the document (JOB_TIMEOUT_MS) or MAX_TEXT_CHARACTERS was used up.',
  },
  scan_failed: { one: 'has a picture', more: 'have pictures', rest: ' that could not be read.' },
  unsure_text: {
    one: 'has',
    more: 'have',
    rest: ' text that was not read surely: small, blurred, or in a language that OCR_LANGUAGES does not name.',
  },
  unsure_text_left_out: {
    one: 'has',
    more: 'have',
    rest: ' something like text that was left out: too unsure (a drawing, or a language that OCR_LANGUAGES does not name), or beyond 3,000 lines.',
  },
  layers_left_out: { one: 'has', more: 'have', rest: ' text in layers that are off, which was left out.' },
  unseen_text_left_out: { one: 'has', more: 'have', rest: ' text that nobody sees, such as white on white, which was left out.' },
  notes_left_out: { one: 'has', more: 'have', rest: ' notes that are shown only when they are opened, and were left out.' },
  unmapped_text_left_out: {
    one: 'has',
    more: 'have',
    rest: ' text whose fonts do not say which letters they show: it was left out. With OCR_SCANNED_PDF text recognition reads such pages.',
  },
} as const;

export type NoticeCode = keyof typeof ofPages;

/** Those of whole documents, whose readers write the text. */
type DocumentNoticeCode =
  | 'charset_guessed'
  | 'signs_not_decoded'
  | 'part_not_read'
  | 'embedded_files_not_read'
  | 'xfa_form_not_read'
  | 'text_cut';

/** One notice for each code that is said of pages, given from 0. */
export function noticesOfPages(pages: readonly (readonly NoticeCode[])[]): Notice[] {
  return (Object.keys(ofPages) as NoticeCode[]).flatMap((code) => {
    const indexes = pages.flatMap((codes, index) => (codes.includes(code) ? [index] : []));
    const { one, more, rest } = ofPages[code];
    return indexes.length === 0 ? [] : [{ code, text: `${namePages(indexes)} ${indexes.length === 1 ? one : more}${rest}` }];
  });
}

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
