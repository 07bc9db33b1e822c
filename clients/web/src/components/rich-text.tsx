import { Box, Table } from '@mantine/core';
import { sliceCharacters } from '@sheaf/client';
import { marked, type Token, type Tokens } from 'marked';
import { createElement, Fragment, type ReactNode } from 'react';
import { csvRows } from '../csv-rows.ts';
import { flowed } from '../flowed.ts';
import { t } from '../text.ts';

/** A part of a text as it stands there, and how it is shown: as rows of cells, otherwise, or as it is. */
export interface Block {
  raw: string;
  shown?: ReactNode;
  rows?: { raw: string; cells: string[] }[];
}

/** Longer texts are shown as they are: the page stays fast whatever somebody uploads. */
const maxLength = 200_000;
/** Deeper lists and quotes are shown as they are. */
const maxDepth = 8;
/** A heading is at most so long, and at most so many stand one after the other. */
const [maxHeading, maxHeadings] = [80, 3];

/** The parts of a text: those of Markdown, rows of cells, headings and what stands between them. Nothing of it is ever read as HTML. */
export function blocksOf(text: string, contentType: string): Block[] {
  if (text.length > maxLength) return [{ raw: text }];
  if (contentType === 'text/csv') return [{ raw: text, rows: csvRows(text) }];
  if (contentType === 'text/markdown') return markdownBlocks(text);
  const isDrawn = contentType === 'application/pdf' || contentType.startsWith('image/');
  const parts = (isDrawn ? flowed(text) : text).split(/((?:^\|.*\|[ \t]*(?:\n|$))+\n*)/m);
  return parts.flatMap((raw, index) => {
    if (raw.startsWith('|')) return [{ raw, rows: markedRows(raw) }];
    return contentType === 'text/plain' ? [{ raw }] : paragraphs(raw, index < parts.length - 1);
  });
}

function markdownBlocks(text: string): Block[] {
  try {
    const blocks = marked.lexer(text).map((token) => ({ raw: token.raw, shown: <div className="rich">{blockOf(token, 0)}</div> }));
    // Positions count on it.
    if (blocks.map(({ raw }) => raw).join('') === text) return blocks;
  } catch {
    // Nested deeper than the stack.
  }
  return [{ raw: text }];
}

/**
 * Paragraphs, of which short ones are headings: what stands alone above a long one, or above a table, and ends like no sentence. The text of
 * a document does not say which they are.
 */
function paragraphs(text: string, isAboveTable: boolean): Block[] {
  const blocks: Block[] = [];
  let headings = isAboveTable ? 0 : maxHeadings;
  for (const raw of text.split(/(\n(?:[ \t]*\n)+)/).reverse()) {
    const words = raw.trim();
    const isHeading = headings < maxHeadings && raw.length <= maxHeading && /\p{L}/u.test(words) && !/[.,:;!?…]$/.test(words);
    if (words !== '') headings = isHeading ? headings + 1 : raw.length > maxHeading ? 0 : maxHeadings;
    blocks.unshift(isHeading ? { raw, shown: <strong>{raw}</strong> } : { raw });
  }
  return blocks;
}

const markedRows = (text: string) =>
  text.split(/(?<=\n)(?!\n)/).map((raw) => ({
    raw,
    cells: raw
      .trim()
      .slice(1, -1)
      .split(/(?<!\\)\|/)
      .map((cell) => cell.trim().replaceAll('\\|', '|')),
  }));

/** A position in code points as one in UTF-16. */
export const unitsOf = (text: string, position: number) => sliceCharacters(text, { start: 0, end: Math.max(0, position) }).length;

interface RowsProps {
  rows: NonNullable<Block['rows']>;
  /** What is to be marked, as positions in the rows. */
  marks: { start: number; end: number }[];
}

/** Rows of a table. Those that a mark reaches into are marked. */
export function CellRows({ rows, marks }: RowsProps) {
  let at = 0;
  const shown = rows.flatMap(({ raw, cells }) => {
    const isReached = marks.some(({ start, end }) => at < end && at + raw.length > start);
    at += raw.length;
    // What parts the head from the rows in Markdown.
    if (cells.every((cell) => /^:?-+:?$/.test(cell))) return [];
    return [isReached ? cells.map((cell) => cell && <mark title={t.document.passage}>{cell}</mark>) : cells];
  });
  return (
    <div className="rich">
      <Cells rows={shown} />
    </div>
  );
}

/** The first row names the columns. */
function Cells({ rows: [head = [], ...rows] }: { rows: ReactNode[][] }) {
  return (
    // No landmark, for a document may have many. What can be scrolled is scrolled by the keyboard, too.
    <Box className="scrolls" role="group" aria-label={t.document.table} tabIndex={0}>
      <Table withTableBorder withColumnBorders>
        <Table.Thead>
          <Table.Tr>{head.map((cell, index) => createElement(Table.Th, { key: index }, cell))}</Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {rows.map((row, index) =>
            createElement(Table.Tr, { key: index }, ...row.map((cell, at) => createElement(Table.Td, { key: at }, cell))),
          )}
        </Table.Tbody>
      </Table>
    </Box>
  );
}

function blockOf(token: Token, depth: number): ReactNode {
  if (depth > maxDepth) return token.raw;
  const within = (tokens: Token[]) => tokens.map((each, index) => createElement(Fragment, { key: index }, blockOf(each, depth + 1)));
  switch (token.type) {
    case 'heading':
      // Below the headings of the page.
      return createElement(`h${Math.min(6, (token as Tokens.Heading).depth + 2)}`, {}, inline(token.tokens));
    case 'paragraph':
      return <p>{inline(token.tokens)}</p>;
    case 'text':
      return token.tokens ? inline(token.tokens) : token.text;
    case 'list':
      return createElement(
        token.ordered ? 'ol' : 'ul',
        token.ordered ? { start: token.start || undefined } : {},
        ...(token as Tokens.List).items.map((item) => <li key={item.raw}>{within(item.tokens)}</li>),
      );
    case 'table': {
      const { header, rows } = token as Tokens.Table;
      return <Cells rows={[header, ...rows].map((row) => row.map((cell) => inline(cell.tokens)))} />;
    }
    case 'blockquote':
      return <blockquote>{within(token.tokens ?? [])}</blockquote>;
    case 'code':
      return <pre>{token.text}</pre>;
    case 'hr':
      return <hr />;
    case 'space':
      return null;
    default:
      return <p className="wraps">{token.raw}</p>;
  }
}

const marks: Record<string, string> = { strong: 'strong', em: 'em', del: 'del', codespan: 'code' };

/** The words of a line. Of a link and a picture only the text: nothing leads, or loads, where a stranger wants. */
function inline(tokens: Token[] | undefined, depth = 0): ReactNode[] {
  return (tokens ?? []).map((token, index) => {
    const mark = marks[token.type];
    const content =
      'tokens' in token && token.tokens && depth < maxDepth ? inline(token.tokens, depth + 1) : 'text' in token ? token.text : token.raw;
    if (token.type === 'br') return createElement('br', { key: index });
    return createElement(mark ?? Fragment, { key: index }, token.type === 'html' ? token.raw : content);
  });
}
