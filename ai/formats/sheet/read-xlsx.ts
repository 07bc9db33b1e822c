import { posix } from 'node:path';
import type { ExtractLimits, RawText, SourceDocument } from '../document.ts';
import type { ReadEmbedded } from '../embedded-file.ts';
import { Archive } from '../office/archive.ts';
import { Attachments } from '../office/attachments.ts';
import { findMainPart, readRelationships, referredPart, targetOfType } from '../office/package-parts.ts';
import { putAround } from '../office/put-around.ts';
import { readDrawing } from '../office/read-drawing.ts';
import { scanWorkbook } from '../office/scan-xml.ts';
import { inFont } from '../office/sign-fonts.ts';
import { TextBuilder } from '../office/text-builder.ts';
import { signOfRaised } from '../raised.ts';
import { type CellFormats, readCellFormats } from './cell-formats.ts';
import { SheetHeaders } from './sheet-headers.ts';

const kind = 'an Excel workbook';
const sharedCharacters = 20_000_000;
/** Excel's last column is XFD. */
const maxColumns = 16_384;
const headerFooter = /(?:Header|Footer)$/;

/**
 * Reads the sheets of a workbook in their order: the name of each as a heading, and its rows that are not empty. Formulas show their last
 * result. Headers stand before them and footers behind them, each once.
 */
export async function readXlsx(
  { bytes }: SourceDocument,
  { maxTextCharacters, maxUploadBytes }: ExtractLimits,
  readEmbedded: ReadEmbedded,
): Promise<RawText> {
  const archive = await Archive.open(bytes, kind);
  const main = await findMainPart(archive, /spreadsheetml\.(?:sheet|template)\.main\+xml$|ms-excel\.sheet\.macroEnabled\.main\+xml$/, kind);
  const relationships = await readRelationships(archive, main);
  const sheets: { name: string; part: string }[] = [];
  let countsFrom1904 = false;
  await scanWorkbook(archive.readText(main), {
    open(name, attributes) {
      if (name === 'workbookPr') countsFrom1904 = ['1', 'true'].includes(attributes.date1904 ?? '');
      const part = name === 'sheet' ? referredPart(relationships, attributes) : undefined;
      if (part !== undefined) sheets.push({ name: attributes.name ?? '', part });
    },
  });
  const partOf = (name: string) => targetOfType(relationships, name) ?? posix.join(posix.dirname(main), `${name}.xml`);
  const shared = await readSharedStrings(archive, partOf('sharedStrings'));
  const formats = await readCellFormats(archive, partOf('styles'), countsFrom1904);
  const builder = new TextBuilder(maxTextCharacters);
  const attachments = new Attachments();
  const headers = new SheetHeaders();
  for (const { name, part } of sheets) {
    if (builder.full) break;
    builder.add(name);
    builder.endParagraph(1);
    const formulas = await readSheet(archive, part, { shared, formats }, { builder, attachments, headers });
    if (formulas > 0) attachments.unread.push(`formulas without a stored result (${formulas} on ${name})`);
  }
  attachments.noticePictures(builder.length);
  const found = builder.finish();
  const text = putAround(found.text, headers.textOf('Header'), headers.textOf('Footer'));
  return { ...found, text, pages: null, ...(await attachments.read(archive, readEmbedded, maxUploadBytes)) };
}

async function readSharedStrings(archive: Archive, part: string): Promise<string[]> {
  const strings: string[] = [];
  if (!archive.has(part)) return strings;
  let [current, inText, phonetic, characters, isRaised, wasRaised] = ['', false, 0, 0, false, false];
  let font: string | undefined;
  await scanWorkbook(archive.readText(part), {
    // A sheet that refers to a later one shows an empty cell.
    enough: () => characters > sharedCharacters,
    open(name, { val }) {
      if (name === 'si') [current, font] = ['', undefined];
      else if (name === 'rPh') phonetic += 1;
      else if (name === 'r') [isRaised, font] = [false, undefined];
      else if (name === 'rFont') font = val;
      else if (name === 'vertAlign') isRaised = val === 'superscript';
      else if (name === 't') inText = phonetic === 0;
    },
    close(name) {
      if (name === 'si') strings.push(current);
      else if (name === 'rPh') phonetic -= 1;
      else if (name === 't') inText = false;
    },
    text(text) {
      if (!inText) return;
      if (isRaised && !wasRaised) current += signOfRaised(current, text);
      wasRaised = isRaised;
      current += inFont(text, font);
      characters += text.length;
    },
  });
  return strings;
}

/** The data to which the cells of a workbook refer. */
interface Book {
  shared: string[];
  formats: CellFormats;
}

/** Reads a sheet, and what is drawn upon it. Returns how many of its formulas have no result, as some libraries write them. */
async function readSheet(
  archive: Archive,
  part: string,
  book: Book,
  { builder, attachments, headers }: { builder: TextBuilder; attachments: Attachments; headers: SheetHeaders },
): Promise<number> {
  const relationships = await readRelationships(archive, part);
  const drawings: string[] = [];
  attachments.hasComments ||= [...relationships.values()].some(({ type }) => /\/(?:comments|threadedComment)$/.test(type));
  let [type, style, value, inValue, phonetic, column, written] = ['n', 0, '', false, 0, 0, 0];
  let [hasFormula, formulas] = [false, 0];
  // Cells behind empty ones stay in their columns. Those that no value follows are left out: they may be 16,384 in every row.
  const write = (text: string) => {
    if (text.trim() === '' || builder.full) return;
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
        [type, style, value, hasFormula] = [attributes.t ?? 'n', Number(attributes.s ?? 0), '', false];
      } else if (name === 'f') hasFormula = true;
      else if (name === 'rPh') phonetic += 1;
      else if (name === 'v' || name === 't') inValue = phonetic === 0;
      else if (name === 'oleObject') attachments.addObject(referredPart(relationships, attributes), attributes.progId);
      else if (headerFooter.test(name)) headers.open(name, attributes);
      else if (name === 'drawing') drawings.push(...[referredPart(relationships, attributes) ?? []].flat());
    },
    close(name) {
      if (name === 'v' || name === 't') inValue = false;
      else if (name === 'rPh') phonetic -= 1;
      else if (name === 'c') {
        if (hasFormula && value === '' && type !== 'str') formulas += 1;
        write(type === 'n' ? book.formats.number(value, style) : showOther(type, value, style, book));
      } else if (headerFooter.test(name)) headers.close();
      else if (name === 'row') builder.endRow();
      else if (name === 'sheetData') builder.closeTable();
    },
    text(text) {
      if (inValue) value += text;
      headers.add(text);
    },
  });
  for (const drawing of drawings) await readDrawing(archive, drawing, { builder, attachments }, { chartRows: false });
  return formulas;
}

function showOther(type: string, value: string, style: number, { shared, formats }: Book): string {
  if (type === 'b') return value === '1' ? 'TRUE' : 'FALSE';
  if (type === 'd') return value.replace(/T(?:00:00:00)?/, ' ').trim();
  const text = type === 's' ? (shared[Number(value)] ?? '') : value;
  // How a workbook writes signs that XML does not have, or that it would change, such as CR.
  const plain = text.replace(/_x([\da-f]{4})_/gi, (_, code: string) => String.fromCharCode(Number.parseInt(code, 16)));
  return formats.text(plain, style);
}

/** The column, from 1, of a reference such as C2; undefined if there is none. */
function columnOf(reference: string | undefined): number | undefined {
  const [, letters] = /^([A-Z]{1,3})\d/.exec(reference ?? '') ?? [];
  if (letters === undefined) return undefined;
  const column = [...letters].reduce((sum, letter) => sum * 26 + letter.charCodeAt(0) - 64, 0);
  return column <= maxColumns ? column : undefined;
}
