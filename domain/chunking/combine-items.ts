import type { Span } from '../characters.ts';
import { type ChunkSize, maxContext } from './chunking.ts';
import { type Cut, splitText } from './split-text.ts';

/** A record of a table, or a value of JSON. It is divided only if it is longer than a chunk. Each begins where the one before it ends. */
export interface Item extends Span {
  /** Its form for search. */
  plain: string;
  /** The number of its line: items with the same number are written in one line. */
  line: number;
  /** The beginning of its line. */
  label: string;
  /** The cost of ending a chunk after it: lower is better. */
  depth: number;
  /** Its form for search, with its context, if a chunk cannot hold `plain`. */
  bare?: { context: string; plain: string };
}

/** The form that chunks have for search: their size and their common beginning. */
interface ChunkForm {
  size: ChunkSize;
  context: string;
}

/** Names are repeated for search unless that makes the text longer than this many times its own length. */
const maxGrowth = 3;

/** Whether repeated names would make the items far longer than the text itself. */
export function isFarLonger(items: Item[], text: string): boolean {
  return items.reduce((sum, item, index) => sum + writtenLength(item, items[index - 1]), 0) / text.length > maxGrowth;
}

/**
 * Combines items into chunks of a size, as they stand in the text and in their form for search. Text after the last item is cut as
 * prose.
 */
export function combineItems(text: string, items: Item[], form: ChunkForm): Cut[] {
  const cuts: Cut[] = [];
  for (let first = 0; first < items.length; ) {
    const next = findNext(items, first, form);
    cuts.push(...toCuts(text, items.slice(first, next), form));
    first = next;
  }
  const rest = items.at(-1)?.end ?? 0;
  return [...cuts, ...cutAsProse(text, { start: rest, end: text.length }, form)];
}

/**
 * The index of the item that begins the next chunk, at least one further. A chunk takes as many items as fit, and ends at the best boundary
 * in its second half.
 */
function findNext(items: Item[], first: number, { size: { characters }, context }: ChunkForm): number {
  const start = items[first]?.start ?? 0;
  const capacity = characters - lengthWithBreak(context);
  let [best, bestDepth, written] = [first + 1, Number.POSITIVE_INFINITY, 0];
  for (let index = first; index < items.length; index += 1) {
    const item = items[index] as Item;
    written += writtenLength(item, index === first ? undefined : items[index - 1]);
    if (index > first && (item.end - start > characters || written > capacity)) return best;
    const isLate = Math.max(item.end - start, written) >= characters / 2;
    if (!isLate || item.depth <= bestDepth) [best, bestDepth] = [index + 1, isLate ? item.depth : Number.POSITIVE_INFINITY];
  }
  return items.length;
}

/**
 * Turns items that fit into one chunk into it. A single item that does not fit uses its bare form, with as much context as fits, or is cut
 * as prose.
 */
function toCuts(text: string, items: Item[], { size, context }: ChunkForm): Cut[] {
  const [start, end] = [items[0]?.start ?? 0, items.at(-1)?.end ?? 0];
  const trimmed = trim(text, { start, end });
  if (trimmed.text === '') return [];
  if (end - start <= size.characters) {
    const written = write(items).toWellFormed();
    const plain = written.trim() === '' ? trimmed.text : written;
    if (plain.length + lengthWithBreak(context) <= size.characters) return [{ ...trimmed, context, plain }];
    const bare = items[0]?.bare ?? { context, plain };
    const capacity = Math.max(0, size.characters - bare.plain.length - 1);
    const shortened = [...bare.context].slice(0, capacity).join('');
    if (bare.plain.length <= size.characters) return [{ ...trimmed, context: shortened, plain: bare.plain.toWellFormed() }];
  }
  const label = [...(items[0]?.label ?? '')].slice(-maxContext(size)).join('');
  return cutAsProse(text, { start, end }, { size, context: label === '' ? context : label });
}

/** The length of a context with the line break after it. */
function lengthWithBreak(context: string): number {
  return context === '' ? 0 : context.length + 1;
}

/** An upper bound of what {@link write} adds for an item after another one. */
function writtenLength({ plain, label, line }: Item, before: Item | undefined): number {
  return plain.length + 2 + (line === before?.line || label === '' ? 0 : label.length + 1);
}

/** Writes items in their form for search. */
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

function cutAsProse(text: string, { start, end }: Span, { size, context }: ChunkForm): Cut[] {
  const sizeAt = () => Math.max(size.characters - context.length - 1, Math.floor(size.characters / 2));
  const pieces = splitText(text.slice(start, end), size, { sections: [], rows: [], sizeAt });
  return pieces.map((piece) => ({ text: piece.text, start: start + piece.start, context, plain: piece.text }));
}

/** A part of a text without surrounding white space, and the index of its beginning. */
function trim(text: string, { start, end }: Span): { text: string; start: number } {
  const piece = text.slice(start, end);
  return { text: piece.trim(), start: start + piece.length - piece.trimStart().length };
}
