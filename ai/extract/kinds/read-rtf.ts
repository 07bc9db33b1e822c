import { decodeBytes } from '../decode-text.ts';
import type { ExtractLimits, RawText, SourceDocument } from '../document.ts';
import type { Notice } from '../notice.ts';
import { damaged } from './archive.ts';
import { commentsLeftOut, nameObject, noticesOfUnread } from './beside.ts';
import { charsetOfCodePage, charsetOfFont } from './rtf-charsets.ts';

const maxDepth = 1_000;
/** Groups whose content is not part of the text. */
const hidden = new Set(
  'fonttbl colortbl stylesheet listtable listoverridetable revtbl rsidtbl info pict object objdata themedata colorschememapping datastore latentstyles generator header headerl headerr headerf footer footerl footerr footerf xmlnstbl filetbl fldinst nonesttables sp shprslt'.split(
    ' ',
  ),
);
/** Words for the code page of the whole document, besides `\ansicpg`. */
const codePages: Record<string, number> = { pc: 437, pca: 850, mac: 10000 };
const written: Record<string, string> = {
  par: '\n\n',
  sect: '\n\n',
  page: '\n\n',
  column: '\n\n',
  line: '\n',
  row: ' |\n',
  cell: ' | ',
  nestcell: ' ',
  tab: '\t',
  emspace: ' ',
  enspace: ' ',
  qmspace: ' ',
  emdash: '—',
  endash: '–',
  lquote: '‘',
  rquote: '’',
  ldblquote: '“',
  rdblquote: '”',
  bullet: '•',
  '~': '\u00a0',
  _: '-',
};
/** A control word with its number, a control symbol, a byte, an end of a group, or text. Line ends mean nothing. */
const token = /\\([a-z]{1,32})(-?\d{1,10})? ?|\\'([0-9a-f]{2})|\\([^a-z0-9'])|([{}])|([^\\{}\r\n]+)|[\r\n]+|\\/giy;

/** Notes and text boxes, which stand within a paragraph and are written after it. */
const asides = new Set(['footnote', 'shptxt']);

interface Group {
  /** Nothing stands in it yet, so that a destination can be that of the group. */
  isNew: boolean;
  hidden: boolean;
  /** Whether text is hidden or deleted, until a control word ends that. */
  unseen: boolean;
  deleted: boolean;
  inTable: boolean;
  /** Defines fonts instead of using them. */
  definesFonts: boolean;
  font: number | undefined;
  /** How many fallback characters follow a Unicode one, for readers without Unicode. */
  fallbacks: number;
}

/**
 * Reads the text of an RTF document: paragraphs with the notes and boxes of text that stand in them, and tables as rows. Leaves out headers,
 * footers, pictures, embedded objects and deleted text.
 */
export function readRtf({ bytes }: SourceDocument, { maxTextCharacters }: ExtractLimits): RawText {
  const source = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('latin1');
  if (!source.startsWith('{\\rtf')) throw damaged('an RTF document');
  const reader = new RtfReader(maxTextCharacters * 2);
  token.lastIndex = 0;
  for (let match = token.exec(source); match && !reader.full; match = token.exec(source)) {
    const [, word, number, byte, symbol, brace, text] = match;
    if (word === 'bin') token.lastIndex += Math.max(0, Number(number ?? 0));
    else if (word !== undefined) reader.onWord(word, number === undefined ? undefined : Number(number));
    else if (byte !== undefined) reader.onByte(Number.parseInt(byte, 16));
    else if (symbol !== undefined) reader.onSymbol(symbol);
    else if (brace !== undefined) reader.onBrace(brace === '{');
    else if (text !== undefined) reader.onText(text);
  }
  return { text: reader.finish(), pages: null, notices: reader.notices, stoppedEarly: reader.full };
}

class RtfReader {
  readonly #parts: string[] = [];
  readonly #maxLength: number;
  readonly #groups: Group[] = [];
  #group: Group = {
    isNew: false,
    hidden: false,
    unseen: false,
    deleted: false,
    inTable: false,
    definesFonts: false,
    font: undefined,
    fallbacks: 1,
  };
  #charset = 'windows-1252';
  /** The charsets of fonts, by their numbers, that are not that of the document. */
  readonly #fonts = new Map<number | undefined, string>();
  #definedFont: number | undefined;
  #defaultFont: number | undefined;
  /** The aside that is open: after which part it begins, and in how many groups. */
  #aside: { from: number; depth: number } | undefined;
  /** Asides of the paragraph that is open. */
  readonly #waiting: string[] = [];
  #bytes: number[] = [];
  #charsetOfBytes = this.#charset;
  #length = 0;
  #skip = 0;
  #hasObject = false;
  #hasComments = false;
  /** Whether the next word belongs at the beginning of a group, but stands within one. */
  #isMisplaced = false;

  constructor(maxLength: number) {
    this.#maxLength = maxLength;
  }

  get full(): boolean {
    return this.#length > this.#maxLength;
  }

  get notices(): Notice[] {
    return [...noticesOfUnread(this.#hasObject ? [nameObject()] : []), ...(this.#hasComments ? [commentsLeftOut] : [])];
  }

  onWord(word: string, number: number | undefined): void {
    const isMisplaced = this.#isMisplaced || (!this.#group.isNew && this.#groups.length < 2);
    [this.#group.isNew, this.#isMisplaced] = [false, false];
    if (word === 'object') this.#hasObject = true;
    else if (word === 'annotation') this.#hasComments = true;
    if (hidden.has(word)) {
      // It would hide the rest of the group, which may be the whole document.
      if (isMisplaced) return;
      this.#group.hidden = true;
      this.#group.definesFonts = word === 'fonttbl';
    } else if (Object.hasOwn(codePages, word)) this.#charset = charsetOfCodePage(codePages[word] ?? 0) ?? this.#charset;
    else if (word === 'v') this.#group.unseen = number !== 0;
    else if (word === 'deleted') this.#group.deleted = number !== 0;
    else if (/^(?:intbl|trowd|pard|row)$/.test(word)) this.#onTable(word);
    else if (word === 'shpinst') this.#group.hidden = this.#groups.at(-1)?.hidden ?? false;
    else if (asides.has(word)) this.#openAside();
    else if (word === 'ansicpg') this.#charset = charsetOfCodePage(number ?? 0) ?? this.#charset;
    else if (/^(?:f|deff|plain|fcharset|cpg)$/.test(word)) this.#onFont(word, number ?? 0);
    else if (word === 'uc') this.#group.fallbacks = Math.max(0, number ?? 1);
    else if (word === 'u' && number !== undefined) {
      this.#write(String.fromCharCode(number & 0xffff));
      this.#skip = this.#group.fallbacks;
    } else if (Object.hasOwn(written, word)) this.#writeWord(word);
  }

  onSymbol(symbol: string): void {
    // A group that only some programs know, or a word of such a group in the midst of another, which hides nothing.
    if (symbol === '*') {
      if (this.#group.isNew) this.#group.hidden = true;
      else this.#isMisplaced = true;
      return;
    }
    this.#group.isNew = false;
    // An escaped byte may be the second one of a letter.
    if ('\\{}'.includes(symbol)) this.onByte(symbol.charCodeAt(0));
    else if (symbol === '\r' || symbol === '\n') this.#write('\n\n');
    else this.#write(written[symbol] ?? '');
  }

  onByte(byte: number): void {
    this.#group.isNew = false;
    if (this.#skip > 0) this.#skip -= 1;
    else if (this.#isShown) {
      this.#beginBytes();
      this.#bytes.push(byte);
    }
  }

  onText(text: string): void {
    if (text.trim() !== '') this.#group.isNew = false;
    const skipped = Math.min(this.#skip, text.length);
    this.#skip -= skipped;
    if (!this.#isShown) return;
    this.#beginBytes();
    // Bytes above ASCII are allowed without an escape.
    for (const character of text.slice(skipped)) this.#bytes.push(character.charCodeAt(0));
    if (this.#bytes.length > 65_536) this.#flush();
  }

  onBrace(opens: boolean): void {
    this.#skip = 0;
    if (opens) {
      if (this.#groups.length >= maxDepth) throw damaged('an RTF document that nests as one does');
      this.#groups.push(this.#group);
      this.#group = { ...this.#group, isNew: true };
      return;
    }
    if (this.#aside?.depth === this.#groups.length) this.#closeAside(this.#aside.from);
    this.#group = this.#groups.pop() ?? this.#group;
  }

  finish(): string {
    this.#flush();
    this.#parts.push('\n\n');
    this.#endWaiting();
    const text = this.#parts.join('').replace(/^(?=[^\n|]* \| )/gm, '| ');
    return text
      .replace(/(?<![ \t])[ \t]+$/gm, '')
      .replace(/\|\s+\|$/gm, '|')
      .replace(/\n{3,}/g, '\n\n')
      .trim();
  }

  get #isShown(): boolean {
    const { hidden, unseen, deleted } = this.#group;
    return !hidden && !unseen && !deleted;
  }

  #onTable(word: string): void {
    if (word === 'row') this.#writeWord(word);
    this.#group.inTable = word === 'intbl' || word === 'trowd';
  }

  /** What stands within a cell is one line. */
  #writeWord(word: string): void {
    const isBreak = word === 'par' || word === 'line';
    this.#write(isBreak && this.#group.inTable ? ' ' : (written[word] ?? ''));
    if (word !== 'par' || this.#group.inTable || this.#aside || !this.#isShown) return;
    this.#endWaiting();
  }

  #endWaiting(): void {
    for (const aside of this.#waiting.splice(0)) this.#parts.push(aside);
  }

  #openAside(): void {
    if (!this.#isShown || this.#aside) return;
    this.#flush();
    this.#aside = { from: this.#parts.length, depth: this.#groups.length };
  }

  #closeAside(from: number): void {
    this.#flush();
    const text = this.#parts.splice(from).join('').trim();
    this.#waiting.push(`${text}\n\n`);
    this.#aside = undefined;
  }

  /** Notes the font of what follows, or, in the table of fonts, its charset. */
  #onFont(word: string, number: number): void {
    const charset = word === 'fcharset' ? charsetOfFont(number) : word === 'cpg' ? charsetOfCodePage(number) : undefined;
    if (this.#group.definesFonts && word === 'f') this.#definedFont = number;
    else if (this.#group.definesFonts && charset !== undefined) this.#fonts.set(this.#definedFont, charset);
    else if (word === 'f') this.#group.font = number;
    else if (word === 'deff') this.#defaultFont = this.#group.font = number;
    else if (word === 'plain') Object.assign(this.#group, { font: this.#defaultFont, unseen: false, deleted: false });
  }

  /** Bytes of another charset than those before them are decoded on their own. */
  #beginBytes(): void {
    const charset = this.#fonts.get(this.#group.font) ?? this.#charset;
    if (charset === this.#charsetOfBytes) return;
    this.#flush();
    this.#charsetOfBytes = charset;
  }

  #write(text: string): void {
    if (!this.#isShown) return;
    this.#flush();
    this.#parts.push(text);
    this.#length += text.length;
  }

  #flush(): void {
    if (this.#bytes.length === 0) return;
    const text = decodeBytes(Uint8Array.from(this.#bytes), this.#charsetOfBytes);
    this.#bytes = [];
    this.#parts.push(text);
    this.#length += text.length;
  }
}
