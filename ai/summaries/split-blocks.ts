/** A part of a text; no sentence crosses its ends. */
export interface Block {
  kind: 'prose' | 'heading' | 'item' | 'row';
  text: string;
}

const atxHeading = /^\s{0,3}#{1,6}\s+(.*)$/s;
const underline = /^\s*(?:=+|-{2,})\s*$/;
const rule = /^\s*(?:[-*_=·•]\s*){3,}$/;
const listItem = /^\s*(?:[-*+•‣▪◦–]|\(?\d{1,3}[.)]|\(?[a-zA-Z][)])\s+(?:\[[ xX]\]\s+)?(.*)$/s;
const quote = /^\s*>+\s?/;
const linkDefinition = /^\s*\[[^\]]+\]:\s+\S+/;
const sentenceEnd = /[.!?…。！？:;][)\]»”’"']*$/u;

/** Splits a text into paragraphs, headings, list items and table rows; the lines of a paragraph are joined. */
export function splitBlocks(text: string): Block[] {
  const builder = new BlockBuilder();
  for (const line of dropCode(text).split('\n')) builder.add(line.replace(quote, ''));
  return dropRepeated(builder.finish());
}

/** Collects blocks line by line; a paragraph stays open until a line ends it. */
class BlockBuilder {
  readonly #blocks: Block[] = [];
  #paragraph: string[] = [];
  #kind: 'prose' | 'item' = 'prose';

  add(line: string): void {
    const heading = atxHeading.exec(line)?.[1];
    const item = listItem.exec(line)?.[1];
    if (line.trim() === '') this.#flush();
    else if (underline.test(line) && this.#paragraph.length === 1 && line.trim().length > 2) this.#underlinePrevious();
    else if (rule.test(line) || underline.test(line) || linkDefinition.test(line)) this.#flush();
    else if (heading !== undefined) this.#addBlock('heading', stripInline(heading.replace(/(?<!#)#+$/, '').trimEnd()));
    else if (isRow(line)) this.#addBlock('row', /[\p{L}\p{N}]/u.test(line) ? rowText(line) : undefined);
    else if (item !== undefined) this.#openItem(item);
    else this.#paragraph.push(line.trim());
  }

  finish(): Block[] {
    this.#flush();
    return this.#blocks;
  }

  #underlinePrevious(): void {
    this.#blocks.push({ kind: 'heading', text: stripInline(this.#paragraph.splice(0).join(' ')) });
  }

  #addBlock(kind: 'heading' | 'row', text: string | undefined): void {
    this.#flush();
    if (text !== undefined) this.#blocks.push({ kind, text });
  }

  #openItem(text: string): void {
    this.#flush();
    this.#kind = 'item';
    this.#paragraph.push(text);
  }

  #flush(): void {
    if (this.#paragraph.length === 0) return;
    const text = stripInline(joinLines(this.#paragraph));
    const kind = this.#kind === 'prose' && isHeadingLike(this.#paragraph, text) ? 'heading' : this.#kind;
    if (text !== '') this.#blocks.push({ kind, text });
    this.#paragraph = [];
    this.#kind = 'prose';
  }
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
  const parts: string[] = [];
  // Looking at the end of what is joined would copy all of it each time.
  let end = '';
  for (const line of lines) {
    const unspaced = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}，。、]$/u.test(end);
    parts.push(end === '' || unspaced || /\p{L}-$/u.test(end) ? line : ` ${line}`);
    end = (end + line).slice(-3);
  }
  return parts.join('');
}

function isHeadingLike(lines: string[], text: string): boolean {
  if (lines.length !== 1 || sentenceEnd.test(text) || text.length > 90) return false;
  return text.split(/\s+/).length <= 12 && !/\p{Script=Han}{12}/u.test(text);
}

/** Drops page headers and footers: short blocks that occur three times or more, apart from their numbers. */
function dropRepeated(blocks: Block[]): Block[] {
  const seen = new Map<string, number>();
  const keyOf = (block: Block) => block.text.toLowerCase().replace(/\p{N}+/gu, '#');
  for (const block of blocks) seen.set(keyOf(block), (seen.get(keyOf(block)) ?? 0) + 1);
  return blocks.filter((block) => block.kind === 'row' || block.text.length > 120 || (seen.get(keyOf(block)) ?? 0) < 3);
}

const frontMatter = /^---\n[\s\S]{0,4000}?\n---\n/;
const comments = /<!--[\s\S]{0,2000}?-->/g;
// Tags that occur in Markdown; anything else in angle brackets is a placeholder and stays.
const htmlTag =
  /<\/?(?:a|abbr|b|br|center|code|details|div|em|font|h[1-6]|hr|i|img|kbd|li|ol|p|pre|s|small|span|strong|sub|summary|sup|t[dhr]|table|tbody|thead|u|ul)(?:\s[^<>]{0,1000})?\/?>/gi;
const fence = /^\s*(```|~~~)/;

/** Removes Markdown blocks that are not prose: front matter, comments, fenced code. Text without Markdown is unchanged. */
function dropCode(text: string): string {
  const lines: string[] = [];
  let open: string | undefined;
  for (const line of text.replace(frontMatter, '').replace(comments, '').split('\n')) {
    const mark = fence.exec(line)?.[1];
    if (mark === undefined && open === undefined) lines.push(line);
    if (mark === undefined || (open !== undefined && mark !== open)) continue;
    open = open === undefined ? mark : undefined;
  }
  return lines.join('\n');
}

/**
 * Removes inline Markdown; the words of emphasis, code, links and images stay. Every repetition is bounded, so that a text of only
 * opening marks does not take quadratic time.
 */
function stripInline(line: string): string {
  return line
    .replace(/!\[([^\]]{0,300})\]\([^)]{0,1000}\)/g, '$1')
    .replace(/\[\^[^\]]{1,100}\]/g, '')
    .replace(/\[([^\]]{1,300})\](?:\([^)]{0,1000}\)|\[[^\]]{0,300}\])/g, '$1')
    .replace(/<((?:https?|mailto):[^>\s]{1,1000})>/g, '$1')
    .replace(htmlTag, '')
    .replace(/(?<![\p{L}\p{N}`])`{1,3}([^`]{1,300})`{1,3}/gu, '$1')
    .replace(/(\*\*|__)(?=\S)(.{1,300}?)(?<=\S)\1/g, '$2')
    .replace(/(?<![\p{L}\p{N}*])\*(?=[^\s*])([^*]{1,300}?)(?<=\S)\*(?![\p{L}\p{N}*])/gu, '$1')
    .replace(/(?<![\p{L}\p{N}_])_(?=[^\s_])([^_]{1,300}?)(?<=\S)_(?![\p{L}\p{N}_])/gu, '$1')
    .replace(/~~(.{1,300}?)~~/g, '$1')
    .replace(/\\([\\`*_{}[\]()#+.!|-])/g, '$1')
    .replace(/\s+/g, ' ')
    .trim();
}
