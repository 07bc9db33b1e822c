import { type ChunkSize, maxContext } from './chunking.ts';
import { combineItems, type Item, isFarLonger } from './combine-items.ts';
import { type CsvRecord, columnNamesOf, readCsvRecords } from './read-csv.ts';
import type { Cut } from './split-text.ts';

const longestName = 60;

/**
 * Cuts a CSV text at its records. For search the name of its column precedes each cell. If that makes the text far longer, or a record
 * longer than a chunk, each chunk has the names once, at its beginning.
 */
export function cutCsv(text: string, size: ChunkSize): Cut[] {
  const records = readCsvRecords(text);
  const names = columnNamesOf(records)?.map((name) => [...name].slice(0, longestName).join('')) ?? [];
  const context = [...names.filter((name) => name !== '').join(', ')].slice(0, maxContext(size)).join('');
  const bare = records.map((record, line) => toItem(record, line, []));
  const named = records.map((record, line) => ({ ...toItem(record, line, names), bare: { context, plain: bare[line]?.plain ?? '' } }));
  if (isFarLonger(named, text)) return combineItems(text, bare, { size, context });
  return combineItems(text, named, { size, context: '' });
}

function toItem({ start, end, cells }: CsvRecord, line: number, names: string[]): Item {
  const plain = cells.flatMap((cell, column) => nameCell(names[column] ?? '', cell.trim())).join(', ');
  return { start, end, line, label: '', depth: 0, plain };
}

function nameCell(name: string, cell: string): string[] {
  if (cell === '') return [];
  return [name === '' || name === cell ? cell : `${name}: ${cell}`];
}
