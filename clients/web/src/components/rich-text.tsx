import { Table } from '@mantine/core';
import { marked, type Token, type Tokens } from 'marked';
import { createElement, Fragment, type ReactNode } from 'react';

/** A part of a text as it stands there, and how it is shown; without `shown` as it is. */
export interface Block {
  raw: string;
  shown?: ReactNode;
}

/** Longer texts are shown as they are: the page stays fast whatever somebody uploads. */
const maxLength = 200_000;
/** Deeper lists and quotes are shown as they are. */
const maxDepth = 8;

/** The parts of a text: those of Markdown, or rows of cells and what stands between them. Nothing of it is ever read as HTML. */
export function blocksOf(text: string, isMarkdown: boolean): Block[] {
  if (text.length > maxLength) return [{ raw: text }];
  if (!isMarkdown)
    return text.split(/((?:^\|.*\|[ \t]*(?:\n|$))+)/m).map((raw) => (raw.startsWith('|') ? { raw, shown: rowsOf(raw) } : { raw }));
  try {
    const blocks = marked.lexer(text).map((token) => ({ raw: token.raw, shown: token.type === 'space' ? ' ' : blockOf(token, 0) }));
    // Positions count on it.
    if (blocks.map(({ raw }) => raw).join('') === text) return blocks;
  } catch {
    // Nested deeper than the stack.
  }
  return [{ raw: text }];
}

function rowsOf(raw: string): ReactNode {
  const rows = raw.trim().split('\n');
  return (
    <Cells
      rows={rows.map((row) =>
        row
          .trim()
          .slice(1, -1)
          .split(/(?<!\\)\|/)
          .map((cell) => cell.trim().replaceAll('\\|', '|')),
      )}
    />
  );
}

/** The first row names the columns. */
function Cells({ rows: [head = [], ...rows] }: { rows: ReactNode[][] }) {
  return (
    <div className="scrolls">
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
    </div>
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
