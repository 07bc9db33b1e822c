import { markHeading } from './outline.ts';

/** A line with further backticks has code within its text. */
const fence = /^ {0,3}(`{3,}(?=[^`]*$)|~{3,})/;
const numberSigns = /^ {0,3}(#{1,6})(?=[ \t]|$)/;
const closingSigns = /(?<![^ \t])#+$/;
const underline = /^ {0,3}(=+|-+)[ \t]*$/;
/** Lines that are no paragraph, so that hyphens below them are no underline: a list, a quotation, a table, an indented block. */
const noParagraph = /^(?: {4}|\t| {0,3}(?:[-+*>|]|\d+[.)])(?:\s|$))/;

/** Marks the headings of a Markdown text, of both kinds. A fenced block has none. */
export function markMarkdownHeadings(text: string): string {
  const lines = text.split(/\r\n?|\n/);
  const marked = [...lines];
  let [open, previous] = ['', ''];
  for (const [index, line] of lines.entries()) {
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
    if (title !== '') marked[index] = markWithin(line, title, { level: signs.length, from: opening.length });
    else if (below !== '' && previous !== '')
      marked[index - 1] = markWithin(previous, previous.trim(), { level: below.startsWith('=') ? 1 : 2, from: 0 });
    previous = signs !== '' || below !== '' || line.trim() === '' || noParagraph.test(line) ? '' : line;
  }
  return marked.join('\n');
}

function markWithin(line: string, title: string, { level, from }: { level: number; from: number }): string {
  const start = line.indexOf(title, from);
  return line.slice(0, start) + markHeading(level, title) + line.slice(start + title.length);
}
