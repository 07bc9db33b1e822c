import { findSentences } from '../../base/text/split-sentences.ts';
import { type JsonValue, readJsonValues } from '../chunking/read-json.ts';
import type { Unit } from './cut-units.ts';

/**
 * Cuts JSON into units, each as it is written. The values of a record, which is an element of an array, that follow each other are a row, of
 * which their keys are the heads; any other value is a row of its own. Values of several sentences are cut into those. `opening`: what stands
 * before a text that begins within a string, else empty. `isBegun`, `goesOn`: text of the document stands before or behind it.
 */
export function cutJsonUnits(text: string, { opening = '', isBegun = false, goesOn = false } = {}): Unit[] {
  const whole = opening + text;
  const values = readJsonValues(whole, { isPart: isBegun || goesOn });
  const isOne = !isBegun && values.slice(0, -1).every(({ depthAfter }) => depthAfter > 0);
  const units: Unit[] = [];
  let row: { unit: Unit; record: number } | undefined;
  for (const value of values) {
    const record = isOne && value.record === 1 ? 0 : value.record;
    const own = keysOf(value, record > 0 ? value.within : 0);
    const sentences = sentencesOf(whole, value);
    const cells = value.value.trim() === '' || value.value === 'null' ? [] : [{ head: own.heads.join('.'), text: value.value }];
    if (sentences.length > 1) {
      const place = { keys: [...own.keys, ...own.heads], row: record > 0 && row?.record === record ? row.unit : undefined };
      units.push(...sentences.map((sentence): Unit => ({ ...sentence, kind: 'sentence', depth: 0, place })));
    } else if (row && record > 0 && row.record === record && row.unit === units.at(-1)) {
      row.unit.end = value.written.end;
      row.unit.cells.push(...cells);
    } else {
      row = { unit: { ...value.written, kind: 'row', depth: 0, cells, place: { keys: own.keys, row: undefined } }, record };
      units.push(row.unit);
    }
  }
  // In place: units name the row before them.
  for (const unit of units) {
    unit.start -= opening.length;
    unit.end -= opening.length;
  }
  return units;
}

/** The keys that lead to the record of a value, and those within it. */
function keysOf({ path, key }: JsonValue, within: number): { keys: string[]; heads: string[] } {
  const at = path.length - within;
  const named = (keys: (string | null)[]) => keys.filter((one) => one !== null && one !== '') as string[];
  return { keys: named(path.slice(0, at)), heads: named([...path.slice(at), key]) };
}

/** The sentences of a string, where there are several, with their places, in letters without escapes. */
function sentencesOf(text: string, { literal, value }: JsonValue): Pick<Unit, 'start' | 'end' | 'cells'>[] {
  const sentences = text[literal.start] === '"' ? findSentences(value) : [];
  if (sentences.length < 2) return [];
  const start = literal.start + 1;
  const places = placesOf(text.slice(start, literal.end));
  const placeOf = (index: number) => start + (places[index] ?? 0);
  return sentences.map((one) => ({
    ...{ start: placeOf(one.start), end: placeOf(one.end) },
    cells: [{ head: '', text: value.slice(one.start, one.end) }],
  }));
}

const escaped = /^\\(?:["\\/bfnrt]|u[\dA-Fa-f]{4})$/;

/** Where each letter of a string's value is written, and where the last one ends. What is no escape has no letter. */
function placesOf(written: string): number[] {
  const letters = [...written.matchAll(/\\u[\da-f]{0,4}|\\?./gis)].filter(([one]) => one.length === 1 || escaped.test(one));
  return [...letters.map(({ index }) => index), written.length];
}
