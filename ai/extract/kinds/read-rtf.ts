import { knownCharset } from '../decode-text.ts';
import type { ExtractLimits, RawText, SourceDocument } from '../document.ts';
import { damaged } from './archive.ts';

const maxDepth = 1_000;
/** Groups whose content is not part of the text. */
const hidden = new Set(
  'fonttbl colortbl stylesheet listtable listoverridetable revtbl rsidtbl info pict object objdata themedata colorschememapping datastore latentstyles generator header headerl headerr headerf footer footerl footerr footerf xmlnstbl filetbl fldinst'.split(
    ' ',
  ),
);
const written: Record<string, string> = {
  par: '\n\n',
  sect: '\n\n',
  page: '\n\n',
  line: '\n',
  row: ' |\n',
  cell: ' | ',
  tab: '\t',
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

interface Group {
  hidden: boolean;
  /** How many characters follow a Unicode one, for those who cannot read it. */
  fallbacks: number;
}

/** Reads the text of an RTF document: paragraphs, and tables as rows; no headers, footers, pictures or embedded objects. */
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
  return { text: reader.finish(), pages: null, stoppedEarly: reader.full };
}

class RtfReader {
  readonly #parts: string[] = [];
  readonly #maxLength: number;
  readonly #groups: Group[] = [];
  #group: Group = { hidden: false, fallbacks: 1 };
  #charset = 'windows-1252';
  #bytes: number[] = [];
  #length = 0;
  #skip = 0;

  constructor(maxLength: number) {
    this.#maxLength = maxLength;
  }

  get full(): boolean {
    return this.#length > this.#maxLength;
  }

  onWord(word: string, number: number | undefined): void {
    if (hidden.has(word)) this.#group.hidden = true;
    else if (word === 'ansicpg') this.#charset = knownCharset(`windows-${number}`) ?? this.#charset;
    else if (word === 'uc') this.#group.fallbacks = Math.max(0, number ?? 1);
    else if (word === 'u' && number !== undefined) {
      this.#write(String.fromCharCode(number & 0xffff));
      this.#skip = this.#group.fallbacks;
    } else if (Object.hasOwn(written, word)) this.#write(written[word] ?? '');
  }

  onSymbol(symbol: string): void {
    // A group that only some programs know.
    if (symbol === '*') this.#group.hidden = true;
    else if ('\\{}'.includes(symbol)) this.#write(symbol);
    else if (symbol === '\r' || symbol === '\n') this.#write('\n\n');
    else this.#write(written[symbol] ?? '');
  }

  onByte(byte: number): void {
    if (this.#skip > 0) this.#skip -= 1;
    else if (!this.#group.hidden) this.#bytes.push(byte);
  }

  onText(text: string): void {
    const skipped = Math.min(this.#skip, text.length);
    this.#skip -= skipped;
    // Bytes above ASCII are allowed without an escape.
    if (!this.#group.hidden) for (const character of text.slice(skipped)) this.#bytes.push(character.charCodeAt(0));
    if (this.#bytes.length > 65_536) this.#flush();
  }

  onBrace(opens: boolean): void {
    this.#skip = 0;
    if (opens) {
      if (this.#groups.length >= maxDepth) throw damaged('an RTF document that nests as one does');
      this.#groups.push(this.#group);
      this.#group = { ...this.#group };
    } else this.#group = this.#groups.pop() ?? this.#group;
  }

  finish(): string {
    this.#flush();
    const text = this.#parts.join('').replace(/^(?=[^\n|]* \| )/gm, '| ');
    return text
      .replace(/(?<![ \t])[ \t]+$/gm, '')
      .replace(/\|\s+\|$/gm, '|')
      .replace(/\n{3,}/g, '\n\n')
      .trim();
  }

  #write(text: string): void {
    if (this.#group.hidden) return;
    this.#flush();
    this.#parts.push(text);
    this.#length += text.length;
  }

  #flush(): void {
    if (this.#bytes.length === 0) return;
    const text = new TextDecoder(this.#charset).decode(Uint8Array.from(this.#bytes));
    this.#bytes = [];
    this.#parts.push(text);
    this.#length += text.length;
  }
}
