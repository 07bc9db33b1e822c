import { lexer, type Token, type Tokens } from 'marked';
import type { Span } from '../characters.ts';

/** A fenced block of code, from its opening to the end of its closing marks. */
interface Fence extends Span {
  /** Its opening marks: three or more of the same character. */
  mark: string;
}

/** A line with more backticks is inline code. */
const fenceLine = /^ {0,3}(`{3,}(?=[^`\n]*$)|~{3,})([^\n]*)$/gm;

/** The fenced blocks of code. An unclosed block goes on to the end of the text. */
export function findFences(text: string): Fence[] {
  const fences: Fence[] = [];
  let open: Fence | undefined;
  for (const { 0: line, 1: mark = '', 2: rest = '', index } of text.matchAll(fenceLine)) {
    if (!open) {
      open = { start: index, end: text.length, mark };
      fences.push(open);
    } else if (mark.startsWith(open.mark) && rest.trim() === '') {
      open.end = index + line.length;
      open = undefined;
    }
  }
  return fences;
}

/** The marks that open quotations and list items at the beginning of a line. */
const openings = /^(?:[ \t]*(?:>|(?:[-*+]|\d{1,9}[.)])(?=[ \t])))+/gm;
const anOpening = />|[-*+]|\d{1,9}[.)]/g;
/** Nobody nests deeper, and the parser's time is quadratic in the depth. */
const maxNesting = 20;

/** A piece without the marks of lines that nest too deeply. */
function flatten(piece: string): string {
  return piece.replace(openings, (signs) => ((signs.match(anOpening)?.length ?? 0) > maxNesting ? '' : signs));
}

/**
 * Writes a piece of Markdown as prose: titles, paragraphs and list items without their marks, links and images as their texts, tables as
 * rows, code unchanged. Meant for a chunk: the time for a longer text is not bounded. `fence`: the block of code in which the piece begins,
 * if any.
 */
export function toPlainMarkdown(piece: string, fence?: Fence): string {
  return blocksOf(lexer(fence ? `${fence.mark}\n${piece}` : flatten(piece), { gfm: true })).join('\n\n');
}

function blocksOf(tokens: Token[]): string[] {
  return tokens.flatMap((token) => {
    const text = blockOf(token).trim();
    return text === '' ? [] : [text];
  });
}

function blockOf(token: Token): string {
  switch (token.type) {
    case 'code':
      return token.text;
    case 'blockquote':
      return blocksOf(token.tokens ?? []).join('\n\n');
    case 'list':
      return (token as Tokens.List).items.map((item) => blocksOf(item.tokens).join('\n')).join('\n');
    case 'table':
      return rowsOf(token as Tokens.Table).join('\n');
    case 'html':
      return withoutTags(token.text);
    case 'space':
    case 'hr':
    case 'def':
    case 'checkbox':
      return '';
    default:
      return inlineOf(token);
  }
}

function rowsOf({ header, rows }: Tokens.Table): string[] {
  return [header, ...rows].map((cells) => cells.map(({ tokens }) => tokens.map(inlineOf).join('').trim()).join(' | '));
}

function inlineOf(token: Token): string {
  if (token.type === 'br') return '\n';
  if (token.type === 'html') return withoutTags(token.text);
  if (token.type === 'image') return token.text;
  if ('tokens' in token && token.tokens) return token.tokens.map(inlineOf).join('');
  return 'text' in token ? String(token.text) : '';
}

function withoutTags(html: string): string {
  return html.replace(/<[^<>]*>/g, ' ');
}
