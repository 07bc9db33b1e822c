import { posix } from 'node:path';
import type { ExtractLimits, RawText, SourceDocument } from '../document.ts';
import type { ReadEmbedded, Reader } from '../embedded-file.ts';
import { Archive } from '../office/archive.ts';
import { Attachments, emuPerCm } from '../office/attachments.ts';
import { Equation } from '../office/equation.ts';
import { findMainPart, readRelationships, targetOfType } from '../office/package-parts.ts';
import { scanXml } from '../office/scan-xml.ts';
import { type ChunkReader, ShownParts } from '../office/shown-parts.ts';
import { inFont, signOf } from '../office/sign-fonts.ts';
import { TextBuilder } from '../office/text-builder.ts';
import { readRtf } from '../rtf/read-rtf.ts';
import { decodeText } from '../text/decode-text.ts';
import { readHtmlPart } from '../web/read-html.ts';
import { WordField } from './word-field.ts';
import { type ListPlace, WordNumbering } from './word-numbering.ts';
import { RunningParts } from './word-running.ts';
import { fontOf, readWordStyles, toLevel, type WordStyles } from './word-styles.ts';

const kind = 'a Word document';
const maxChunkBytes = 32 * 1024 * 1024;
const notes = ['footnotes', 'endnotes'];
/** Elements to skip: deleted text, the former position of moved text, readings of words, and fallbacks of newer elements. */
const skipped = new Set(['w:del', 'w:moveFrom', 'w:rt', 'mc:Fallback']);
/** How a paragraph, a run, a cell or a row was formatted before it was changed. */
const changed = new Set(['w:pPrChange', 'w:rPrChange', 'w:tcPrChange', 'w:trPrChange']);

/**
 * Reads a Word document: paragraphs with the numbers of lists, equations, tables, then footnotes and endnotes; headers before them and footers
 * behind them, as far as nothing else says the same; nothing that is hidden or deleted.
 */
export function readDocx({ bytes }: SourceDocument, limits: ExtractLimits, readEmbedded: ReadEmbedded): Promise<RawText> {
  return readWord(bytes, limits, readEmbedded, (archive, part) => readChunk(archive, part, limits, readEmbedded));
}

async function readWord(
  bytes: Uint8Array,
  { maxTextCharacters, maxUploadBytes }: ExtractLimits,
  readEmbedded: ReadEmbedded,
  chunkReader: ChunkReader,
): Promise<RawText> {
  const archive = await Archive.open(bytes, kind);
  const main = await findMainPart(
    archive,
    /wordprocessingml\.(?:document|template)\.main\+xml$|ms-word\.document\.macroEnabled\.main\+xml$/,
    kind,
  );
  const builder = new TextBuilder(maxTextCharacters);
  const relationships = await readRelationships(archive, main);
  const partOf = (name: string) => targetOfType(relationships, name) ?? posix.join(posix.dirname(main), `${name}.xml`);
  const parts = [main, ...notes.map(partOf).filter((part) => archive.has(part))];
  const styles = await readWordStyles(archive, partOf('styles'));
  const numbering = await WordNumbering.read(archive, partOf('numbering'));
  const attachments = new Attachments();
  const running = new RunningParts();
  const readPart = async (part: string, to = builder) => {
    const shown = await ShownParts.read(archive, await readRelationships(archive, part), attachments, chunkReader);
    await new WordPart({ attachments, running, builder: to, styles, numbering, shown }).read(archive, part);
  };
  for (const part of parts) await readPart(part);
  attachments.noticePictures(builder.length);
  const found = builder.finish();
  const text = await running.around(found.text, relationships, async (part) => {
    const lines = new TextBuilder(maxTextCharacters);
    await readPart(part, lines);
    return lines.finish().text;
  });
  return { ...found, text, pages: null, ...(await attachments.read(archive, readEmbedded, maxUploadBytes)) };
}

/** Reads a document that is put into another. One that is put into that one in turn is not read. */
async function readChunk(archive: Archive, part: string, limits: ExtractLimits, readEmbedded: ReadEmbedded): Promise<RawText | undefined> {
  const read = chunkReaders[posix.extname(part).slice(1).toLowerCase()];
  return read?.({ bytes: await archive.readWhole(part, maxChunkBytes), mediaType: '', charset: undefined }, limits, readEmbedded);
}

const chunkReaders: Record<string, Reader> = {
  docx: ({ bytes }, limits, readEmbedded) => readWord(bytes, limits, readEmbedded, async () => undefined),
  htm: readHtmlPart,
  html: readHtmlPart,
  xhtml: readHtmlPart,
  rtf: readRtf,
  txt: ({ bytes }) => ({ ...decodeText(bytes, undefined), pages: null }),
};

interface Paragraph {
  style: string | undefined;
  /** That of a heading, if its own properties say so; null for body text. */
  level: number | null | undefined;
  /** What its own properties say of its list. */
  list: string | undefined;
  listLevel: number | undefined;
  isCounted: boolean;
  /** Its end was deleted: the next one goes on with it. */
  isJoined: boolean;
}

interface WordDocument {
  attachments: Attachments;
  running: RunningParts;
  builder: TextBuilder;
  styles: WordStyles;
  numbering: WordNumbering;
  shown: ShownParts;
}

/** A part with paragraphs, while it is read. */
class WordPart {
  readonly #document: WordDocument;
  readonly #paragraphs: Paragraph[] = [];
  /** The runs that are open, and whether each is formatted as hidden. */
  readonly #runs: boolean[] = [];
  /** The run that is open is a superscript. */
  #isRaised = false;
  /** The font of the run that is open, if it or its style names one. */
  #font: string | undefined;
  readonly #field = new WordField();
  /** The fields that are open, and whether each is still in its code, which may hold the results of other fields. */
  #fields: boolean[] = [];
  #inText = false;
  /** Within the properties of a run, or of the sign that ends a paragraph. */
  #inProperties = false;
  /** The paragraph before goes on, and has its number already. */
  #isCounted = false;
  /** How many columns the cells that are open take. */
  readonly #spans: number[] = [];
  /** The former properties that are open, of a changed paragraph or run. */
  #changes = 0;
  #skipped = 0;
  /** The equation that is open. */
  #equation: Equation | undefined;
  #isBehindEquation = false;
  /** The width and height of the drawing that is open, in centimetres. */
  #size: [number, number] = [0, 0];

  constructor(document: WordDocument) {
    this.#document = document;
  }

  async read(archive: Archive, part: string): Promise<void> {
    await scanXml(archive.readText(part), {
      enough: () => this.#document.builder.full,
      open: (name, attributes) => {
        const paragraph = this.#paragraphs.at(-1);
        if (paragraph && this.#inProperties && (name === 'w:del' || name === 'w:moveFrom')) paragraph.isJoined = true;
        if (skipped.has(name)) this.#skipped += 1;
        if (this.#skipped === 0) this.#open(name, attributes);
      },
      close: (name) => {
        if (skipped.has(name)) this.#skipped -= 1;
        if (this.#skipped === 0) this.#close(name);
      },
      text: (text) => {
        if (!this.#inText || this.#skipped > 0 || this.#fields.includes(true)) return;
        this.#add(inFont(text, this.#font ?? this.#document.styles.font(this.#paragraphs.at(-1)?.style ?? '')));
      },
    });
  }

  #open(name: string, attributes: Record<string, string>): void {
    const { builder, attachments, running, styles } = this.#document;
    const value = attributes['w:val'] ?? '';
    if (name === 'w:t' || name === 'm:t') this.#inText = true;
    else if (name === 'w:p') this.#openParagraph();
    else if (name === 'w:r' || name === 'm:r') this.#openRun();
    else if (name === 'w:vertAlign' && this.#changes === 0) this.#isRaised = value === 'superscript';
    else if (name === 'w:rFonts' && this.#changes === 0) this.#font = fontOf(attributes) ?? this.#font;
    else if (name === 'v:textpath') this.#add(attributes.string ?? '');
    else if (name === 'w:commentReference') attachments.hasComments = true;
    else if (name === 'wp:extent') this.#size = [Number(attributes.cx) / emuPerCm, Number(attributes.cy) / emuPerCm];
    else if (name === 'pic:pic') attachments.addPicture(...this.#size);
    else if (name === 'w:rStyle') {
      this.#setHidden(styles.hides(value));
      if (this.#changes === 0) this.#font ??= styles.font(value);
    } else if (name === 'w:vanish') this.#setHidden(!['0', 'false', 'off'].includes(value));
    else if (changed.has(name)) this.#changes += 1;
    else if ((name === 'w:tab' && attributes['w:pos'] === undefined) || name === 'w:ptab') this.#add('\t');
    else if (name === 'w:br' || name === 'w:cr') this.#add('\n');
    else if (name === 'w:noBreakHyphen') this.#add('-');
    else if (name === 'w:sym') this.#add(signOf(attributes['w:font'], attributes['w:char']));
    else if (name === 'w:tbl') builder.openTable();
    else if (name === 'w:tc') this.#spans.push(1);
    else if (name === 'w:gridSpan' && this.#changes === 0) this.#spans.splice(-1, 1, Number(value));
    else if (name === 'w:gridBefore' && this.#changes === 0) builder.passColumns(Number(value));
    else if (name === 'w:fldChar') this.#openField(attributes['w:fldCharType']);
    else if (name === 'w:txbxContent') builder.openAside();
    else if (name.startsWith('m:')) this.#openInEquation(name, attributes['m:val']);
    else if (this.#changes === 0) this.#setProperty(name, value);
    this.#field.open(name, value);
    running.open(name, attributes);
    if (!this.#runs.includes(true)) this.#document.shown.write(builder, name, attributes);
  }

  #close(name: string): void {
    const { builder } = this.#document;
    if (name === 'w:t' || name === 'm:t') this.#inText = false;
    else if (name === 'w:p') this.#endParagraph();
    else if (name === 'w:r' || name === 'm:r') this.#runs.pop();
    else if (name === 'w:rPr') this.#inProperties = false;
    else if (changed.has(name)) this.#changes -= 1;
    else if (name === 'w:tc') this.#endCell();
    else if (name === 'w:tr') builder.endRow();
    else if (name === 'w:tbl') builder.closeTable();
    else if (name === 'w:txbxContent') builder.closeAside();
    else if (name.startsWith('m:')) this.#closeInEquation(name);
    else if (name === 'w:checkBox' || name === 'w:ddList') this.#add(this.#field.close());
  }

  #openRun(): void {
    this.#isRaised = false;
    this.#font = undefined;
    this.#runs.push(false);
  }

  #openParagraph(): void {
    const properties = { style: undefined, level: undefined, list: undefined, listLevel: undefined };
    this.#paragraphs.push({ ...properties, isCounted: this.#isCounted, isJoined: false });
    this.#isCounted = false;
  }

  #openField(type: string | undefined): void {
    if (type === 'begin') this.#fields.push(true);
    else if (type === 'separate') this.#fields.splice(-1, 1, false);
    else this.#fields.pop();
  }

  #endCell(): void {
    this.#isCounted = false;
    this.#document.builder.endCell();
    this.#document.builder.passColumns((this.#spans.pop() ?? 1) - 1);
  }

  #setProperty(name: string, value: string): void {
    const paragraph = this.#paragraphs.at(-1);
    if (!paragraph) return;
    if (name === 'w:rPr') this.#inProperties = true;
    else if (name === 'w:pStyle') paragraph.style = value;
    else if (name === 'w:outlineLvl') paragraph.level = toLevel(value);
    else if (name === 'w:numId') paragraph.list = value;
    else if (name === 'w:ilvl') paragraph.listLevel = Number(value);
  }

  #openInEquation(name: string, value: string | undefined): void {
    if (name === 'm:oMath' && !this.#equation) {
      if (this.#isBehindEquation) this.#add(' ');
      this.#equation = new Equation((text) => this.#write(text));
    }
    this.#equation?.open(name, value);
  }

  #closeInEquation(name: string): void {
    this.#equation?.close(name);
    if (this.#equation?.isOver) [this.#equation, this.#isBehindEquation] = [undefined, true];
  }

  #add(text: string): void {
    if (this.#runs.includes(true) || text === '') return;
    if (this.#equation) this.#equation.add(text);
    else this.#write(text);
  }

  #write(text: string): void {
    if (text === '') return;
    this.#isBehindEquation = false;
    this.#document.builder.add(this.#takeNumber() + text, this.#isRaised);
  }

  /** That of the sign that ends a paragraph stands outside of runs, and hides no text. */
  #setHidden(value: boolean): void {
    if (this.#changes === 0 && this.#runs.length > 0) this.#runs[this.#runs.length - 1] = value;
  }

  /** What stands before the text of a paragraph in a list; '' if that is there already. */
  #takeNumber(): string {
    const paragraph = this.#paragraphs.at(-1);
    if (!paragraph || paragraph.isCounted) return '';
    paragraph.isCounted = true;
    const place = this.#placeOf(paragraph);
    const number = place ? this.#document.numbering.next(place, paragraph.style) : '';
    return number === '' ? '' : `${number} `;
  }

  #placeOf({ style, list, listLevel }: Paragraph): ListPlace | undefined {
    const ofStyle = style === undefined ? undefined : this.#document.styles.list(style);
    if (list !== undefined) return { list, level: listLevel ?? ofStyle?.level };
    return ofStyle && { list: ofStyle.list, level: listLevel ?? ofStyle.level };
  }

  /** A paragraph without text counts too, but its number alone is not worth a line. */
  #endParagraph(): void {
    // A field whose end is missing hides nothing of the paragraphs behind it.
    this.#fields = this.#fields.filter((isCode) => !isCode);
    if (this.#paragraphs.at(-1)?.isJoined) {
      this.#isCounted = this.#paragraphs.pop()?.isCounted ?? false;
      return;
    }
    this.#takeNumber();
    const { level, style } = this.#paragraphs.pop() ?? {};
    const ofStyle = style === undefined ? undefined : this.#document.styles.level(style);
    this.#isBehindEquation = false;
    this.#document.builder.endParagraph((level === undefined ? ofStyle : level) ?? undefined);
  }
}
