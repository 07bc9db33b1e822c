import { posix } from 'node:path';
import type { ExtractLimits, RawText, SourceDocument } from '../document.ts';
import { Archive } from './archive.ts';
import { findMainPart, readRelationships } from './package-parts.ts';
import { scanXml } from './scan-xml.ts';
import { TextBuilder } from './text-builder.ts';

const kind = 'an Excel workbook';
const sharedCharacters = 20_000_000;
const dayMs = 86_400_000;
/** Day 0 of a workbook, with the leap day that 1900 did not have. */
const dayZero = Date.UTC(1899, 11, 30);
const dateFormats = new Set([14, 15, 16, 17, 22]);

/** Reads the sheets of a workbook in their order: the name of each, and its rows that are not empty. Formulas show their last result. */
export async function readXlsx({ bytes }: SourceDocument, { maxTextCharacters }: ExtractLimits): Promise<RawText> {
  const archive = await Archive.open(bytes, kind);
  const main = await findMainPart(archive, /spreadsheetml\.(?:sheet|template)\.main\+xml$|ms-excel\.sheet\.macroEnabled\.main\+xml$/, kind);
  const targets = await readRelationships(archive, main);
  const sheets: { name: string; part: string }[] = [];
  await scanXml(archive.readText(main), {
    open(name, attributes) {
      const part = name === 'sheet' ? targets.get(attributes['r:id'] ?? '') : undefined;
      if (part !== undefined) sheets.push({ name: attributes.name ?? '', part });
    },
  });
  const besides = (file: string) => posix.join(posix.dirname(main), file);
  const shared = await readSharedStrings(archive, besides('sharedStrings.xml'));
  const dates = await readDateStyles(archive, besides('styles.xml'));
  const builder = new TextBuilder(maxTextCharacters);
  for (const { name, part } of sheets) {
    if (builder.full) break;
    builder.add(name);
    builder.endParagraph();
    await readSheet(archive, part, { shared, dates }, builder);
  }
  return { ...builder.finish(), pages: null };
}

async function readSharedStrings(archive: Archive, part: string): Promise<string[]> {
  const strings: string[] = [];
  if (!archive.has(part)) return strings;
  let [current, inText, phonetic, characters] = ['', false, 0, 0];
  await scanXml(archive.readText(part), {
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
  await scanXml(archive.readText(part), {
    open(name, { numFmtId = '0', formatCode = '' }) {
      const format = Number(numFmtId);
      if (name === 'numFmt') custom.set(format, /[dy]/i.test(formatCode.replace(/"[^"]*"|\[[^\]]*\]|\\./g, '')));
      else if (name === 'cellXfs') inCells = true;
      else if (name === 'xf' && inCells) {
        if (dateFormats.has(format) || custom.get(format)) dates.add(style);
        style += 1;
      }
    },
    close(name) {
      if (name === 'cellXfs') inCells = false;
    },
  });
  return dates;
}

async function readSheet(
  archive: Archive,
  part: string,
  book: { shared: string[]; dates: Set<number> },
  builder: TextBuilder,
): Promise<void> {
  let [type, style, value, inValue] = ['n', 0, '', false];
  await scanXml(archive.readText(part), {
    enough: () => builder.full,
    open(name, attributes) {
      if (name === 'sheetData') builder.openTable();
      else if (name === 'c') [type, style, value] = [attributes.t ?? 'n', Number(attributes.s ?? 0), ''];
      else if (name === 'v' || name === 't') inValue = true;
    },
    close(name) {
      if (name === 'v' || name === 't') inValue = false;
      else if (name === 'c') {
        builder.add(type === 's' ? (book.shared[Number(value)] ?? '') : type === 'n' && book.dates.has(style) ? toDate(value) : value);
        builder.endCell();
      } else if (name === 'row') builder.endRow();
      else if (name === 'sheetData') builder.closeTable();
    },
    text(text) {
      if (inValue) value += text;
    },
  });
}

/** A day of a workbook as `2026-03-01`, with its time if it has one. */
function toDate(value: string): string {
  const time = new Date(Math.round((dayZero + Number(value) * dayMs) / 1000) * 1000);
  if (value === '' || Number.isNaN(time.getTime())) return value;
  return time.toISOString().slice(0, 19).replace('T00:00:00', '').replace('T', ' ');
}
