import type { RawHeading } from './outline.ts';

/** A line with further backticks has code within its text. */
const fence = /^ {0,3}(`{3,}(?=[^`]*$)|~{3,})/;
const numberSigns = /^ {0,3}(#{1,6})(?=[ \t]|$)/;
const closingSigns = /(?<![^ \t])#+$/;
const underline = /^ {0,3}(=+|-+)[ \t]*$/;
/** What is no paragraph, so that a line of hyphens below it is no underline: a list, a quotation, a table, an indented block. */
const noParagraph = /^(?: {4}|\t| {0,3}(?:[-+*>|]|\d+[.)])(?:\s|$))/;

/** The headings of a Markdown text, of both kinds. What is in a fenced block is none. */
export function findMarkdownHeadings(text: string): RawHeading[] {
  const headings: RawHeading[] = [];
  let [open, previous] = ['', ''];
  for (const line of text.split(/\r\n?|\n/)) {
    const mark = fence.exec(line)?.[1] ?? '';
    const isInside = open !== '';
    if (!isInside && mark !== '') open = mark;
    else if (mark.startsWith(open) && line.trim() === mark) open = '';
    if (isInside || mark !== '') {
      previous = '';
      continue;
    }
    const [opening = '', signs = ''] = numberSigns.exec(line) ?? [];
    const title = signs === '' ? '' : line.slice(opening.length).trim().replace(closingSigns, '').trimEnd();
    const [, below = ''] = underline.exec(line) ?? [];
    if (signs !== '' && title !== '') headings.push({ level: signs.length, line, title });
    else if (below !== '' && previous !== '') headings.push({ level: below.startsWith('=') ? 1 : 2, line: previous, title: previous });
    previous = signs !== '' || below !== '' || line.trim() === '' || noParagraph.test(line) ? '' : line;
  }
  return headings;
}
