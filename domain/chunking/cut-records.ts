import type { Span } from '../characters.ts';
import { type ChunkSize, maxContext } from './chunking.ts';
import { columnNamesOf, readCsvRecords } from './read-csv.ts';
import { type JsonValue, readJsonValues } from './read-json.ts';
import { type Cut, splitText } from './split-text.ts';

/** A record of a table, or a value of JSON: what no chunk divides, unless it is longer than one. Each begins where the one before ends. */
interface Item extends Span {
  /** How search reads it. */
  plain: string;
  /** What it shares a line with. */
  line: number;
  /** What its line begins with. */
  label: string;
  /** How well a chunk ends after it: the less, the better. */
  depth: number;
  /** How search reads it if that would be longer than a chunk. */
  bare?: { context: string; plain: string };
}

/** Names are repeated for search unless it would read so many times as much as there is. */
const mostGrowth = 3;
const longestName = 60;
/**
 * Cuts a CSV text at its records. For search each cell follows the name of its column. If that would be far more text than the cells, each
 * chunk begins with the names instead; so does a record that is longer than a chunk with a name for each cell.
 */
export function cutCsv(text: string, size: ChunkSize): Cut[] {
  const records = readCsvRecords(text);
  const names = columnNamesOf(records)?.map((name) => [...name].slice(0, longestName).join(''));
  const context = [...(names?.join(', ') ?? '')].slice(0, maxContext(size)).join('');
  const bare = records.map(({ start, end, cells }, line): Item => {
    const plain = cells.flatMap((cell) => cell.trim() || []).join(', ');
    return { start, end, line, label: '', depth: 0, plain };
  });
  const named = bare.map((item, line): Item => {
    const cells = records[line]?.cells.map((cell) => cell.trim()) ?? [];
    const plain = cells.flatMap((cell, column) => nameCell(names?.[column] ?? '', cell)).join(', ');
    return { ...item, plain, bare: { context, plain: item.plain } };
  });
  if (growthOf(named, text) <= mostGrowth) return cutItems(text, named, { size, context: '' });
  return cutItems(text, bare, { size, context });
}

function nameCell(name: string, cell: string): string[] {
  if (cell === '') return [];
  return [name === '' || name === cell ? cell : `${name}: ${cell}`];
}

/**
 * Cuts a JSON text between its values, so that chunks hold complete values where possible. For search each value follows its key, and each
 * line the keys that lead to it.
 */
export function cutJson(text: string, size: ChunkSize): Cut[] {
  const values = readJsonValues(text);
  const withPaths = values.map((value) => toItem(value, value.path.join('.')));
  const items = growthOf(withPaths, text) <= mostGrowth ? withPaths : values.map((value) => toItem(value, ''));
  return cutItems(text, items, { size, context: '' });
}

function toItem({ start, end, key, value, parent, depthAfter }: JsonValue, label: string): Item {
  const isEmpty = value === 'null' || value.trim() === '';
  return { start, end, line: parent, label, depth: depthAfter, plain: isEmpty ? '' : key === null ? value : `${key}: ${value}` };
}

function growthOf(items: Item[], text: string): number {
  return items.reduce((sum, item, index) => sum + lengthOf(item, items[index - 1]), 0) / text.length;
}

/** What an item adds to the text that search reads, after another one. */
function lengthOf({ plain, label, line }: Item, before: Item | undefined): number {
  return plain.length + 2 + (line === before?.line || label === '' ? 0 : label.length + 1);
}

/** Combines items into chunks of a size, both in the text and as search reads them. What follows the last item is cut as prose. */
function cutItems(text: string, items: Item[], { size, context }: { size: ChunkSize; context: string }): Cut[] {
  const cuts: Cut[] = [];
  const room = size.characters - (context === '' ? 0 : context.length + 1);
  for (let first = 0; first < items.length; ) {
    const next = findNext(items, first, { characters: size.characters, room });
    const some = items.slice(first, next);
    cuts.push(...toCuts(text, some, { size, context }));
    first = next;
  }
  const rest = items.at(-1)?.end ?? 0;
  return [...cuts, ...cutSpan(text, { start: rest, end: text.length }, { size, context })];
}

/**
 * The index of the item that the next chunk begins with, at least one further. The chunk has as many items as fit, and ends where it is
 * best to end in its second half.
 */
function findNext(items: Item[], first: number, { characters, room }: { characters: number; room: number }): number {
  const start = items[first]?.start ?? 0;
  let [best, bestDepth, written] = [first + 1, Number.POSITIVE_INFINITY, 0];
  for (let index = first; index < items.length; index += 1) {
    const item = items[index] as Item;
    written += lengthOf(item, index === first ? undefined : items[index - 1]);
    if (index > first && (item.end - start > characters || written > room)) return best;
    const isLate = Math.max(item.end - start, written) >= characters / 2;
    if (!isLate || item.depth <= bestDepth) [best, bestDepth] = [index + 1, isLate ? item.depth : Number.POSITIVE_INFINITY];
  }
  return items.length;
}

/** The chunk of items that fit into one. A single item that does not fit gets less context, or is cut as prose. */
function toCuts(text: string, items: Item[], { size, context }: { size: ChunkSize; context: string }): Cut[] {
  const [start, end] = [items[0]?.start ?? 0, items.at(-1)?.end ?? 0];
  const [trimmed] = trim(text, { start, end });
  if (!trimmed) return [];
  const written = write(items).toWellFormed();
  const plain = written.trim() === '' ? trimmed.text : written;
  const { context: names, plain: cells } = items[0]?.bare ?? { context, plain };
  if (end - start <= size.characters) {
    if (plain.length + (context === '' ? 0 : context.length + 1) <= size.characters) return [{ ...trimmed, context, plain }];
    const room = Math.max(0, size.characters - cells.length - 1);
    if (cells.length <= size.characters) return [{ ...trimmed, context: [...names].slice(0, room).join(''), plain: cells.toWellFormed() }];
  }
  const label = [...(items[0]?.label ?? '')].slice(-maxContext(size)).join('');
  return cutSpan(text, { start, end }, { size, context: label === '' ? context : label });
}

function write(items: Item[]): string {
  let [text, line]: [string, number | undefined] = ['', undefined];
  for (const item of items) {
    if (item.plain === '') continue;
    if (item.line === line) text += `, ${item.plain}`;
    else text += `${text === '' ? '' : '\n'}${item.label === '' ? '' : `${item.label}: `}${item.plain}`;
    line = item.line;
  }
  return text;
}

/** Cuts as prose what is longer than a chunk. */
function cutSpan(text: string, { start, end }: Span, { size, context }: { size: ChunkSize; context: string }): Cut[] {
  const roomAt = () => Math.max(size.characters - context.length - 1, Math.floor(size.characters / 2));
  const pieces = splitText(text.slice(start, end), size, { sections: [], rows: [], roomAt });
  return pieces.map((piece) => ({ text: piece.text, start: start + piece.start, context, plain: piece.text }));
}

function trim(text: string, { start, end }: Span): { text: string; start: number }[] {
  const piece = text.slice(start, end);
  const trimmed = piece.trim();
  return trimmed === '' ? [] : [{ text: trimmed, start: start + piece.length - piece.trimStart().length }];
}
