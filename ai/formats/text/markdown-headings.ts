import { markHeading } from '../outline.ts';

/** A line with further backticks has code within its text. */
const fence = /^ {0,3}(`{3,}(?=[^`]*$)|~{3,})/;
const numberSigns = /^ {0,3}(#{1,6})(?=[ \t]|$)/;
const closingSigns = /(?<![^ \t])#+$/;
const underline = /^ {0,3}(=+|-+)[ \t]*$/;
/** Lines that are no paragraph, so that hyphens below them are no underline: a list, a quotation, a table, an indented block. */
const noParagraph = /^(?: {4}|\t| {0,3}(?:[-+*>|]|\d+[.)])(?:\s|$))/;

/** What a first line of data about the document begins, and how it ends. */
const frontMatter: Record<string, RegExp> = { '---': /^(?:---|\.\.\.)\s*$/, '+++': /^\+\+\+\s*$/ };
const dataLine = /^(?:\s*#.*|[\p{L}\p{N}_"'][^:=]{0,100}[:=](?:\s.*)?)$/u;
/** Nobody writes more lines about a document. */
const maxFrontMatterLines = 200;

/** Marks the headings of a Markdown text, of both kinds. A fenced block has none, nor has front matter. */
export function markMarkdownHeadings(text: string): string {
  const lines = text.split(/\r\n?|\n/);
  const marked = [...lines];
  const body = findBody(lines);
  let [open, previous] = ['', ''];
  for (const [index, line] of lines.entries()) {
    if (index < body) continue;
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

/** The line behind the front matter, which is YAML between hyphens or TOML between plus signs; 0 if there is none. */
function findBody(lines: string[]): number {
  const end = frontMatter[(lines[0] ?? '').replace(/^\ufeff/, '').trimEnd()];
  const first = lines.slice(1, maxFrontMatterLines).find((line) => line.trim() !== '');
  if (!end || first === undefined || !dataLine.test(first)) return 0;
  return lines.slice(0, maxFrontMatterLines).findIndex((line, index) => index > 0 && end.test(line)) + 1;
}

function markWithin(line: string, title: string, { level, from }: { level: number; from: number }): string {
  const start = line.indexOf(title, from);
  return line.slice(0, start) + markHeading(level, title) + line.slice(start + title.length);
}
