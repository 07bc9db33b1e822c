import { format, getFormatFromId } from 'numfmt';
import type { Archive } from '../office/archive.ts';
import { scanWorkbook } from '../office/scan-xml.ts';

const dayMs = 86_400_000;
/** Day 0 of a workbook, with the leap day that 1900 did not have; and of one that counts from 1904, as old ones for the Mac do. */
const dayZeros = { usual: Date.UTC(1899, 11, 30), of1904: Date.UTC(1904, 0, 1) };
const general = 'General';
const dayOrTime = 'yyyy-mm-dd hh:mm';
const isEastAsian = (id: number) => (id >= 27 && id <= 36 && id !== 32 && id !== 33) || (id >= 50 && id <= 58);
/** What is no sign of a format: quoted text, conditions and colours, and single signs that are taken as they are. */
const literals = /"[^"]*"?|\[[^\]]*\]?|\\.|[_*]./g;
/** A currency with a language. Excel takes the sign from it, and separators from the user. */
const currency = /\[\$([^\][-]+)-[^\][]*\]/g;

/** Shows what is in a cell, by the number of its style. */
export interface CellFormats {
  number(value: string, style: number): string;
  text(value: string, style: number): string;
}

/** A number with a format of its own, as a chart stores it. */
export function showStored(value: string, code: string): string {
  return showNumber(value, code.replace(currency, '[$$$1]') || general, dayZeros.usual);
}

/** Reads how a workbook shows its cells from the part with its styles. */
export async function readCellFormats(archive: Archive, part: string, countsFrom1904: boolean): Promise<CellFormats> {
  const formats = archive.has(part) ? await readFormats(archive, part) : [];
  const dayZero = countsFrom1904 ? dayZeros.of1904 : dayZeros.usual;
  return {
    number: (value, style) => showNumber(value, formats[style] ?? general, dayZero),
    text: (value, style) => showText(value, formats[style] ?? general),
  };
}

/** The formats of numbers by the styles of cells. */
async function readFormats(archive: Archive, part: string): Promise<string[]> {
  const custom = new Map<number, string>();
  const formats: string[] = [];
  let inCells = false;
  await scanWorkbook(archive.readText(part), {
    open(name, { numFmtId = '0', formatCode = '' }) {
      const id = Number(numFmtId);
      if (name === 'numFmt') custom.set(id, formatCode.replace(currency, '[$$$1]'));
      else if (name === 'cellXfs') inCells = true;
      else if (name === 'xf' && inCells) formats.push(custom.get(id) ?? builtIn(id));
    },
    close(name) {
      if (name === 'cellXfs') inCells = false;
    },
  });
  return formats;
}

/** Those with a currency have that of each user, which the workbook does not say. Chinese and Japanese ones are days in one language and times in another. */
function builtIn(id: number): string {
  if (isEastAsian(id)) return dayOrTime;
  return (getFormatFromId(id) ?? general).replaceAll('$', '');
}

/** As Excel shows it, but days always as `2026-03-01`. What has a format that is not understood stays as it is stored. */
function showNumber(value: string, code: string, dayZero: number): string {
  const number = Number(value);
  if (value === '' || !Number.isFinite(number)) return value;
  if (code === general) return showGeneral(value, number);
  const signs = code.replace(literals, '');
  if (/[dy]/i.test(signs) && !/general/i.test(signs)) return showDay(number, dayZero, /h/i.test(signs)) ?? value;
  try {
    return tidy(format(code, number));
  } catch {
    return value;
  }
}

/** Excel knows 15 digits: it stores 1.1 as 1.1000000000000001. */
function showGeneral(value: string, number: number): string {
  if (/e/i.test(value)) return format(general, number);
  return value.includes('.') && value.replace(/\D/g, '').length > 15 ? String(Number(number.toPrecision(15))) : value;
}

/** A day as `2026-03-01`, with its time if it has one. A part of the first day is a time of any day. Undefined for no day of the calendar. */
function showDay(number: number, dayZero: number, hasTime: boolean): string | undefined {
  const time = new Date(Math.round((dayZero + number * dayMs) / 1000) * 1000);
  if (Number.isNaN(time.getTime())) return undefined;
  const [day = '', clock = ''] = time.toISOString().slice(0, 19).split('T');
  if (number >= 0 && number < 1 && (hasTime || number > 0)) return clock;
  return clock === '00:00:00' ? day : `${day} ${clock}`;
}

/** Text may have a format too, such as `"No. "@`. */
function showText(value: string, code: string): string {
  if (!code.replace(literals, '').includes('@')) return value;
  try {
    return tidy(format(code, value));
  } catch {
    return value;
  }
}

/** Formats fill up with spaces, so that signs stand below each other. */
function tidy(shown: string): string {
  return shown.replace(/\s+/g, ' ').trim();
}
