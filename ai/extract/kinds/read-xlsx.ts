import { posix } from 'node:path';
import type { ExtractLimits, RawText, SourceDocument } from '../document.ts';
import { Archive } from './archive.ts';
import { findMainPart, readRelationships, referredPart, targetOfType } from './package-parts.ts';
import { localName, scanXml, type XmlHandlers } from './scan-xml.ts';
import { TextBuilder } from './text-builder.ts';

const kind = 'an Excel workbook';
const sharedCharacters = 20_000_000;
const dayMs = 86_400_000;
/** Day 0 of a workbook, with the leap day that 1900 did not have; and of one that counts from 1904, as old ones for the Mac do. */
const dayZeros = { usual: Date.UTC(1899, 11, 30), of1904: Date.UTC(1904, 0, 1) };
/** Excel's last column is XFD. */
const maxColumns = 16_384;
/** Built-in formats of days. Those from 27 on are in Chinese, Japanese and Korean, where some of them are times in one language. */
const dateFormats = new Set([14, 15, 16, 17, 22, 27, 28, 29, 30, 31, 34, 35, 36, 50, 51, 52, 53, 54, 55, 56, 57, 58]);

/** Reads the sheets of a workbook in their order: the name of each, and its rows that are not empty. Formulas show their last result. */
export async function readXlsx({ bytes }: SourceDocument, { maxTextCharacters }: ExtractLimits): Promise<RawText> {
  const archive = await Archive.open(bytes, kind);
  const main = await findMainPart(archive, /spreadsheetml\.(?:sheet|template)\.main\+xml$|ms-excel\.sheet\.macroEnabled\.main\+xml$/, kind);
  const relationships = await readRelationships(archive, main);
  const sheets: { name: string; part: string }[] = [];
  let dayZero = dayZeros.usual;
  await scanWorkbook(archive.readText(main), {
    open(name, attributes) {
      if (name === 'workbookPr' && ['1', 'true'].includes(attributes.date1904 ?? '')) dayZero = dayZeros.of1904;
      const part = name === 'sheet' ? referredPart(relationships, attributes) : undefined;
      if (part !== undefined) sheets.push({ name: attributes.name ?? '', part });
    },
  });
  const partOf = (name: string) => targetOfType(relationships, name) ?? posix.join(posix.dirname(main), `${name}.xml`);
  const shared = await readSharedStrings(archive, partOf('sharedStrings'));
  const dates = await readDateStyles(archive, partOf('styles'));
  const builder = new TextBuilder(maxTextCharacters);
  for (const { name, part } of sheets) {
    if (builder.full) break;
    builder.add(name);
    builder.endParagraph();
    await readSheet(archive, part, { shared, dates, dayZero }, builder);
  }
  return { ...builder.finish(), pages: null };
}

/** Reads a part of a workbook. Some programs write its elements with a prefix, others without. */
function scanWorkbook(pieces: AsyncIterable<string>, { open, close, ...handlers }: XmlHandlers): Promise<void> {
  return scanXml(pieces, {
    ...handlers,
    open: (name, attributes) => open?.(localName(name), attributes),
    close: (name) => close?.(localName(name)),
  });
}

async function readSharedStrings(archive: Archive, part: string): Promise<string[]> {
  const strings: string[] = [];
  if (!archive.has(part)) return strings;
  let [current, inText, phonetic, characters] = ['', false, 0, 0];
  await scanWorkbook(archive.readText(part), {
    // A sheet that refers to a later one shows an empty cell.
    enough: () => characters > sharedCharacters,
    open(name) {
      if (name === 'si') current = '';
      else if (name === 'rPh') phonetic += 1;
      else if (name === 't') inText = phonetic === 0;
    },
    close(name) {
      if (name === 'si') strings.push(current);
      else if (name === 'rPh') phonetic -= 1;
      else if (name === 't') inText = false;
    },
    text(text) {
      if (!inText) return;
      current += text;
      characters += text.length;
    },
  });
  return strings;
}

/** The styles of cells, by their number, whose numbers are days. */
async function readDateStyles(archive: Archive, part: string): Promise<Set<number>> {
  const dates = new Set<number>();
  if (!archive.has(part)) return dates;
  const custom = new Map<number, boolean>();
  let [inCells, style] = [false, 0];
  await scanWorkbook(archive.readText(part), {
    open(name, { numFmtId = '0', formatCode = '' }) {
      const format = Number(numFmtId);
      if (name === 'numFmt') custom.set(format, /[dy]/i.test(formatCode.replace(/"[^"]*"?|\[[^\]]*\]?|\\./g, '')));
      else if (name === 'cellXfs') inCells = true;
      else if (name === 'xf' && inCells) {
        if (custom.get(format) ?? dateFormats.has(format)) dates.add(style);
        style += 1;
      }
    },
    close(name) {
      if (name === 'cellXfs') inCells = false;
    },
  });
  return dates;
}

/** The data to which the cells of a workbook refer. */
interface Book {
  shared: string[];
  /** The styles whose numbers are days, which count from `dayZero`. */
  dates: Set<number>;
  dayZero: number;
}

async function readSheet(archive: Archive, part: string, book: Book, builder: TextBuilder): Promise<void> {
  let [type, style, value, inValue, phonetic, column, written] = ['n', 0, '', false, 0, 0, 0];
  // Cells behind empty ones stay in their columns. Those that no value follows are left out: they may be 16,384 in every row.
  const write = (text: string) => {
    if (text.trim() === '') return;
    for (written += 1; written < column; written += 1) builder.endCell();
    builder.add(text);
    builder.endCell();
  };
  await scanWorkbook(archive.readText(part), {
    enough: () => builder.full,
    open(name, attributes) {
      if (name === 'sheetData') builder.openTable();
      else if (name === 'row') [column, written] = [0, 0];
      else if (name === 'c') {
        column = Math.max(column + 1, columnOf(attributes.r) ?? 0);
        [type, style, value] = [attributes.t ?? 'n', Number(attributes.s ?? 0), ''];
      } else if (name === 'rPh') phonetic += 1;
      else if (name === 'v' || name === 't') inValue = phonetic === 0;
    },
    close(name) {
      if (name === 'v' || name === 't') inValue = false;
      else if (name === 'rPh') phonetic -= 1;
      else if (name === 'c') {
        write(type === 'n' ? showNumber(value, style, book) : showOther(type, value, book));
      } else if (name === 'row') builder.endRow();
      else if (name === 'sheetData') builder.closeTable();
    },
    text(text) {
      if (inValue) value += text;
    },
  });
}

/** As Excel shows it, which knows 15 digits: it stores 1.1 as 1.1000000000000001. */
function showNumber(value: string, style: number, { dates, dayZero }: Book): string {
  if (dates.has(style)) return toDate(value, dayZero);
  const isRough = /[.e]/i.test(value) && value.replace(/\D/g, '').length > 15 && Number.isFinite(Number(value));
  return isRough ? String(Number(Number(value).toPrecision(15))) : value;
}

function showOther(type: string, value: string, { shared }: Book): string {
  if (type === 'b') return value === '1' ? 'TRUE' : 'FALSE';
  const text = type === 's' ? (shared[Number(value)] ?? '') : value;
  // How a workbook writes signs that XML does not have, or that it would change, such as CR.
  return text.replace(/_x([\da-f]{4})_/gi, (_, code: string) => String.fromCharCode(Number.parseInt(code, 16)));
}

/** A day of a workbook as `2026-03-01`, with its time if it has one. A part of the first day is a time of any day, and stays a number. */
function toDate(value: string, dayZero: number): string {
  const time = new Date(Math.round((dayZero + Number(value) * dayMs) / 1000) * 1000);
  if (value === '' || Number.isNaN(time.getTime()) || Math.abs(Number(value) - 0.5) < 0.5) return value;
  return time.toISOString().slice(0, 19).replace('T00:00:00', '').replace('T', ' ');
}

/** The column, from 1, of a reference such as C2; undefined if there is none. */
function columnOf(reference: string | undefined): number | undefined {
  const [, letters] = /^([A-Z]{1,3})\d/.exec(reference ?? '') ?? [];
  if (letters === undefined) return undefined;
  const column = [...letters].reduce((sum, letter) => sum * 26 + letter.charCodeAt(0) - 64, 0);
  return column <= maxColumns ? column : undefined;
}
