import { dropCode, stripInline } from './strip-markup.ts';

/** A stretch of text that no sentence crosses. */
export interface Block {
  kind: 'prose' | 'heading' | 'item' | 'row';
  text: string;
}

const atxHeading = /^\s{0,3}#{1,6}\s+(.*?)\s*#*$/;
const underline = /^\s*(?:=+|-{2,})\s*$/;
const rule = /^\s*(?:[-*_=·•]\s*){3,}$/;
const listItem = /^\s*(?:[-*+•‣▪◦–]|\(?\d{1,3}[.)]|\(?[a-zA-Z][)])\s+(?:\[[ xX]\]\s+)?(.*)$/;
const quote = /^\s*>+\s?/;
const linkDefinition = /^\s*\[[^\]]+\]:\s+\S+/;
const sentenceEnd = /[.!?…。！？:;][)\]»”’"']*$/u;

/** Takes a text apart into paragraphs, headings, list items and table rows; lines of a paragraph are joined. */
export function splitBlocks(text: string): Block[] {
  const blocks: Block[] = [];
  let paragraph: string[] = [];
  let kind: 'prose' | 'item' = 'prose';
  const flush = () => {
    if (paragraph.length === 0) return;
    const joined = stripInline(joinLines(paragraph));
    if (joined !== '') blocks.push({ kind: kind === 'prose' && isHeadingLike(paragraph, joined) ? 'heading' : kind, text: joined });
    paragraph = [];
    kind = 'prose';
  };
  const lines = dropCode(text).split('\n');
  for (const raw of lines) {
    const line = raw.replace(quote, '');
    if (line.trim() === '') {
      flush();
      continue;
    }
    const heading = atxHeading.exec(line)?.[1];
    const item = listItem.exec(line)?.[1];
    if (underline.test(line) && paragraph.length === 1 && line.trim().length > 2) {
      blocks.push({ kind: 'heading', text: stripInline(paragraph.splice(0).join(' ')) });
    } else if (rule.test(line) || underline.test(line) || linkDefinition.test(line)) {
      flush();
    } else if (heading !== undefined) {
      flush();
      blocks.push({ kind: 'heading', text: stripInline(heading) });
    } else if (isRow(line)) {
      flush();
      if (/[\p{L}\p{N}]/u.test(line)) blocks.push({ kind: 'row', text: rowText(line) });
    } else if (item !== undefined) {
      flush();
      kind = 'item';
      paragraph.push(item);
    } else {
      paragraph.push(line.trim());
    }
  }
  flush();
  return dropRepeated(blocks);
}

/** A row of a table: cells between bars, tabs or wide gaps, or many short cells between commas. */
function isRow(line: string): boolean {
  const trimmed = line.trim();
  if (/^\|.*\|$/.test(trimmed) || /\t.*\t/.test(trimmed) || (trimmed.match(/\S {2,}(?=\S)/g)?.length ?? 0) >= 2) return true;
  if (/\.{4,}|(?:\. ){4,}/.test(trimmed)) return true;
  const cells = trimmed.split(/[,;](?! )/);
  return cells.length >= 3 && cells.every((cell) => cell.length <= 200) && trimmed.split(/[,;] /).length <= cells.length / 2;
}

function rowText(line: string): string {
  const cells = line.split(/[|\t]| {2,}|[,;](?! )/).map((cell) => stripInline(cell));
  return cells.filter((cell) => cell !== '').join(', ');
}

function joinLines(lines: string[]): string {
  let joined = '';
  for (const line of lines) {
    const unspaced = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}，。、]$/u.test(joined);
    joined += joined === '' || unspaced || /\p{L}-$/u.test(joined) ? line : ` ${line}`;
  }
  return joined;
}

function isHeadingLike(lines: string[], text: string): boolean {
  if (lines.length !== 1 || sentenceEnd.test(text) || text.length > 90) return false;
  return text.split(/\s+/).length <= 12 && !/\p{Script=Han}{12}/u.test(text);
}

/** Drops what stands on every page: short blocks that return three times and more, their numbers aside. */
function dropRepeated(blocks: Block[]): Block[] {
  const seen = new Map<string, number>();
  const keyOf = (block: Block) => block.text.toLowerCase().replace(/\p{N}+/gu, '#');
  for (const block of blocks) seen.set(keyOf(block), (seen.get(keyOf(block)) ?? 0) + 1);
  return blocks.filter((block) => block.kind === 'row' || block.text.length > 120 || (seen.get(keyOf(block)) ?? 0) < 3);
}
