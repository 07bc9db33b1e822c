import type { ExtractLimits, RawText, SourceDocument } from '../document.ts';
import type { Notice } from '../notice.ts';
import { damaged } from '../office/archive.ts';
import { Attachments, commentsLeftOut, nameObject, noticesOfUnread } from '../office/attachments.ts';
import { putAround } from '../office/put-around.ts';
import { isSignFont, signOf } from '../office/sign-fonts.ts';
import { signOfRaised } from '../raised.ts';
import { decodeBytes } from '../text/decode-text.ts';
import { WordField } from '../word/word-field.ts';
import { charsetOfCodePage, charsetOfFont } from './rtf-charsets.ts';
import { asides, codePages, formKinds, formWords, hidden, running, token, undefinedResult, written } from './rtf-words.ts';

const maxDepth = 1_000;
const twipsPerCm = 567;

interface Field {
  /** After which part it begins. */
  from: number;
  /** Set for the check boxes and lists of legacy forms, whose results are often empty. */
  form: WordField | undefined;
}

interface Group {
  /** Nothing stands in it yet, so that a destination can be that of the group. */
  isNew: boolean;
  hidden: boolean;
  /** Whether text is hidden or deleted, until a control word ends that. */
  unseen: boolean;
  deleted: boolean;
  /** A superscript. */
  raised: boolean;
  inTable: boolean;
  /** Defines fonts instead of using them. */
  definesFonts: boolean;
  font: number | undefined;
  field: Field | undefined;
  /** How many fallback characters follow a Unicode one, for readers without Unicode. */
  fallbacks: number;
}

/**
 * Reads the text of an RTF document: paragraphs with the notes and boxes of text that stand in them, ticked boxes and chosen options of
 * forms, and tables as rows; headers before it and footers behind it. Leaves out pictures, embedded objects and deleted text.
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
  return { text: reader.finish(), pages: null, notices: reader.takeNotices(), stoppedEarly: reader.full };
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
    raised: false,
    inTable: false,
    definesFonts: false,
    font: undefined,
    field: undefined,
    fallbacks: 1,
  };
  #charset = 'windows-1252';
  /** The charsets of fonts, by their numbers, that are not that of the document. */
  readonly #fonts = new Map<number | undefined, string>();
  readonly #signFonts = new Map<number | undefined, string>();
  #definedFont: number | undefined;
  #defaultFont: number | undefined;
  /** The aside that is open: after which part it begins, and in how many groups. */
  #aside: { from: number; depth: number; word: string } | undefined;
  /** The choice of a list that is open, likewise. */
  #choice: { from: number; depth: number } | undefined;
  /** Asides of the paragraph that is open. */
  readonly #waiting: string[] = [];
  readonly #running: Record<string, string[]> = { header: [], footer: [] };
  #bytes: number[] = [];
  #charsetOfBytes = this.#charset;
  #length = 0;
  #skip = 0;
  /** The text before was a superscript. */
  #isRaised = false;
  #hasObject = false;
  #hasComments = false;
  /** The picture that is open: its scale in percent, its width, and whether it is the one before, for older programs. */
  #picture = { scaleX: 100, scaleY: 100, width: 0, isRepeated: false };
  readonly #attachments = new Attachments();
  /** Whether the next word belongs at the beginning of a group, but stands within one. */
  #isMisplaced = false;

  constructor(maxLength: number) {
    this.#maxLength = maxLength;
  }

  get full(): boolean {
    return this.#length > this.#maxLength;
  }

  /** What was left out of all that was read. */
  takeNotices(): Notice[] {
    if (this.#hasObject) this.#attachments.unread.push(nameObject());
    this.#attachments.noticePictures(this.#length);
    return [...noticesOfUnread(this.#attachments.unread), ...(this.#hasComments ? [commentsLeftOut] : [])];
  }

  onWord(word: string, number: number | undefined): void {
    const isMisplaced = this.#isMisplaced || (!this.#group.isNew && this.#groups.length < 2);
    [this.#group.isNew, this.#isMisplaced] = [false, false];
    if (word === 'object') this.#hasObject = true;
    else if (word === 'annotation') this.#hasComments = true;
    // It would hide the rest of the group, which may be the whole document.
    if (isMisplaced && (hidden.has(word) || running.test(word) || word === 'ffl')) return;
    if (hidden.has(word)) {
      this.#group.hidden = true;
      this.#group.definesFonts = word === 'fonttbl';
    } else if (Object.hasOwn(codePages, word)) this.#charset = charsetOfCodePage(codePages[word] ?? 0) ?? this.#charset;
    else if (word === 'v') this.#group.unseen = number !== 0;
    else if (word === 'super') this.#group.raised = number !== 0;
    else if (word === 'nosupersub' || word === 'sub') this.#group.raised = false;
    else if (word === 'deleted') this.#group.deleted = number !== 0;
    else if (/^(?:intbl|trowd|pard|row)$/.test(word)) this.#onTable(word);
    else if (word === 'shpinst') this.#revealGroup();
    // The same in Unicode, for programs that know it: the one fallback of a letter is that of older programs.
    else if (word === 'ud') Object.assign(this.#group, { hidden: this.#groups.at(-2)?.hidden ?? false, fallbacks: 1 });
    else if (asides.has(word) || running.test(word)) this.#openAside(word);
    else if (word.startsWith('pic') || word.endsWith('shppict')) this.#onPicture(word, number ?? 0);
    else if (word === 'field' || word.startsWith('ff')) this.#onField(word, number ?? 0);
    else if (word === 'ansicpg') this.#charset = charsetOfCodePage(number ?? 0) ?? this.#charset;
    else if (/^(?:f|deff|plain|fcharset|cpg)$/.test(word)) this.#onFont(word, number ?? 0);
    else if (word === 'uc') this.#group.fallbacks = Math.max(0, number ?? 1);
    else if (word === 'u' && number !== undefined) {
      const font = this.#signFont;
      const code = number & 0xffff;
      this.#write(font === undefined ? String.fromCharCode(code) : signOf(font, code.toString(16)));
      this.#skip = this.#group.fallbacks;
    } else if (Object.hasOwn(written, word)) this.#writeWord(word);
  }

  onSymbol(symbol: string): void {
    // A group that only some programs know, or a word of such a group in the midst of another, which hides nothing.
    if (symbol === '*') {
      if (this.#group.isNew) Object.assign(this.#group, { hidden: true, definesFonts: false });
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
    if (this.#group.definesFonts) this.#nameFont(text);
    if (!this.#isShown) return;
    if (this.#group.raised !== this.#isRaised) this.#raise(text);
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
    // Behind the last group nothing is open, and each brace would look at the whole text once more.
    if (this.#groups.length === 0) return;
    if (this.#aside?.depth === this.#groups.length) this.#closeAside(this.#aside.from, this.#aside.word);
    if (this.#choice?.depth === this.#groups.length) this.#closeChoice(this.#choice.from);
    if (this.#group.field !== this.#groups.at(-1)?.field) this.#closeField(this.#group.field);
    this.#group = this.#groups.pop() ?? this.#group;
  }

  finish(): string {
    this.#flush();
    this.#parts.push('\n\n');
    this.#endWaiting();
    const { header = [], footer = [] } = this.#running;
    return putAround(tidy(this.#parts.join('')), tidy(header.join('')), tidy(footer.join('')));
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

  #onPicture(word: string, number: number): void {
    const picture = this.#picture;
    if (word.endsWith('shppict')) this.#picture = { scaleX: 100, scaleY: 100, width: 0, isRepeated: word === 'nonshppict' };
    else if (word === 'picscalex') picture.scaleX = number;
    else if (word === 'picscaley') picture.scaleY = number;
    else if (word === 'picwgoal') picture.width = (number * picture.scaleX) / 100 / twipsPerCm;
    else if (word === 'pichgoal') {
      if (!picture.isRepeated) this.#attachments.addPicture(picture.width, (number * picture.scaleY) / 100 / twipsPerCm);
      this.#picture = { scaleX: 100, scaleY: 100, width: 0, isRepeated: false };
    }
  }

  /** Some programs mark what they take for new with a star, as others mark what is not shown: LibreOffice marks notes so. */
  #revealGroup(): void {
    this.#group.hidden = this.#groups.at(-1)?.hidden ?? false;
  }

  #openAside(word: string): void {
    this.#revealGroup();
    if (!this.#isShown || this.#aside) return;
    this.#flush();
    this.#aside = { from: this.#parts.length, depth: this.#groups.length, word };
    // No number of the text stands before its first sign.
    this.#parts.push('');
  }

  #closeAside(from: number, word: string): void {
    this.#flush();
    const text = this.#parts.splice(from).join('').trim();
    const [, part = ''] = running.exec(word) ?? [];
    (this.#running[part] ?? this.#waiting).push(`${text}\n\n`);
    this.#aside = undefined;
  }

  #onField(word: string, number: number): void {
    this.#flush();
    const from = this.#parts.length;
    const { field } = this.#group;
    if (word === 'field') this.#group.field = { from, form: undefined };
    else if (word === 'fftype' && field && formKinds[number]) {
      field.form = new WordField();
      field.form.open(formKinds[number], '');
    } else if (word === 'ffl' && !this.#choice) {
      Object.assign(this.#group, { hidden: false, unseen: false, deleted: false });
      this.#choice = { from, depth: this.#groups.length };
    } else if (formWords[word] && number !== undefinedResult) field?.form?.open(formWords[word], String(number));
  }

  #closeChoice(from: number): void {
    this.#flush();
    // Out of the text also where no form takes it.
    const choice = this.#parts.splice(from).join('').trim();
    this.#group.field?.form?.open('w:listEntry', choice);
    this.#choice = undefined;
  }

  #closeField(field: Field | undefined): void {
    this.#flush();
    if (field?.form && this.#parts.slice(field.from).join('').trim() === '') this.#write(field.form.close());
  }

  /** Notes the font of what follows, or, in the table of fonts, its charset. */
  #onFont(word: string, number: number): void {
    const charset = word === 'fcharset' ? charsetOfFont(number) : word === 'cpg' ? charsetOfCodePage(number) : undefined;
    if (this.#group.definesFonts && word === 'f') this.#definedFont = number;
    else if (this.#group.definesFonts && charset !== undefined) this.#fonts.set(this.#definedFont, charset);
    else if (word === 'f') this.#group.font = number;
    else if (word === 'deff') this.#defaultFont = this.#group.font = number;
    else if (word === 'plain') Object.assign(this.#group, { font: this.#defaultFont, unseen: false, deleted: false, raised: false });
  }

  /** A font for signs has a charset of its own. */
  #nameFont(text: string): void {
    const name = text.replace(/;.*/, '').trim().toLowerCase();
    if (isSignFont(name)) this.#signFonts.set(this.#definedFont, name);
  }

  get #signFont(): string | undefined {
    return this.#signFonts.get(this.#group.font);
  }

  #raise(text: string): void {
    this.#isRaised = this.#group.raised;
    this.#flush();
    if (this.#isRaised) this.#write(signOfRaised(this.#parts.at(-1) ?? '', text));
  }

  /** Bytes of another charset than those before them are decoded on their own. */
  #beginBytes(): void {
    const charset = this.#signFont ?? this.#fonts.get(this.#group.font) ?? this.#charset;
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
    const charset = this.#charsetOfBytes;
    const text = isSignFont(charset) ? showSigns(this.#bytes, charset) : decodeBytes(Uint8Array.from(this.#bytes), charset);
    this.#bytes = [];
    this.#parts.push(text);
    this.#length += text.length;
  }
}

/** Rows begin with a stroke, too, and lines end with no blanks. */
function tidy(text: string): string {
  return text
    .replace(/^(?=[^\n\r\u2028\u2029|]* \| )/gm, '| ')
    .replace(/(?<![ \t])[ \t]+$/gm, '')
    .replace(/\|\s+\|$/gm, '|')
    .replace(/\n{3,}/g, '\n\n')
    .trim();
}

function showSigns(bytes: number[], font: string): string {
  return bytes.map((byte) => (byte === 0x20 ? ' ' : signOf(font, (0xf000 + byte).toString(16)))).join('');
}
