import type { ChunkSize } from './chunking.ts';
import { combineItems, type Item, isFarLonger } from './combine-items.ts';
import { type JsonValue, readJsonValues } from './read-json.ts';
import type { Cut } from './split-text.ts';

/**
 * Cuts a JSON text between its values, so that chunks hold complete values where possible. For search each value follows its key, and each
 * line begins with the keys that lead to it, unless that makes the text far longer.
 */
export function cutJson(text: string, size: ChunkSize): Cut[] {
  const values = readJsonValues(text);
  const withPaths = values.map((value) => toItem(value, value.path.join('.')));
  const items = isFarLonger(withPaths, text) ? values.map((value) => toItem(value, '')) : withPaths;
  return combineItems(text, items, { size, context: '' });
}

function toItem({ start, end, key, value, parent, depthAfter }: JsonValue, label: string): Item {
  const isEmpty = value === 'null' || value.trim() === '';
  return { start, end, line: parent, label, depth: depthAfter, plain: isEmpty ? '' : key === null ? value : `${key}: ${value}` };
}
