import type { Span } from '../characters.ts';

/** A scalar of a JSON text, with the text before it, and the ends of the objects and arrays that it is the last value of. */
export interface JsonValue extends Span {
  /** The innermost keys that lead to the object or array which holds it, without indexes. */
  path: string[];
  /** A number that values of the same object or array share. */
  parent: number;
  /** The value's key; null in an array. */
  key: string | null;
  value: string;
  /** The number of objects and arrays that are still open after it. */
  depthAfter: number;
}

/** How many keys of a path are kept, and how many characters of a key. Documents that are worth finding by their keys have no more. */
const maxKeys = 4;
const maxKeyLength = 60;

const space = /[\s,:]*/y;
const unstorable = /[\p{Cc}--[\n\t]]/gv;
const word = /[^\s,:[\]{}"]*/y;

/** An open object or array. */
interface Parent {
  number: number;
  isObject: boolean;
  path: string[];
}

/**
 * The values of a JSON text, or of several in a row, in order, with their positions. Reads the text once, without recursion, however deeply
 * it is nested. Stops where the text is not JSON or was cut off: the rest belongs to no value.
 */
export function readJsonValues(text: string): JsonValue[] {
  const reader = new JsonReader(text);
  while (reader.readNext());
  return reader.values;
}

class JsonReader {
  readonly values: JsonValue[] = [];
  readonly #text: string;
  readonly #open: Parent[] = [];
  #at = 0;
  #parents = 0;
  /** The key of the next value, in an object. */
  #key: string | null = null;

  constructor(text: string) {
    this.#text = text;
  }

  /** Returns false at the end of the text, or where it stops being JSON. */
  readNext(): boolean {
    this.#at = skip(this.#text, this.#at);
    const character = this.#text[this.#at];
    if (character === undefined) return false;
    if (character === '{' || character === '[') return this.#begin(character === '{');
    if (character === '}' || character === ']') return this.#end(character === '}');
    return this.#readScalar();
  }

  #begin(isObject: boolean): boolean {
    const path = this.#open.at(-1)?.path ?? [];
    this.#parents += 1;
    this.#open.push({ number: this.#parents, isObject, path: this.#key === null ? path : [...path, this.#key].slice(-maxKeys) });
    this.#key = null;
    this.#at += 1;
    return true;
  }

  #end(isObject: boolean): boolean {
    if (this.#open.pop()?.isObject !== isObject) return false;
    this.#key = null;
    this.#at = skip(this.#text, this.#at + 1);
    const last = this.values.at(-1);
    if (last) [last.end, last.depthAfter] = [this.#at, this.#open.length];
    return true;
  }

  #readScalar(): boolean {
    const end = endOfScalar(this.#text, this.#at);
    if (end === this.#at) return false;
    const value = unquote(this.#text.slice(this.#at, end));
    const { isObject = false, path = [], number: parent = 0 } = this.#open.at(-1) ?? {};
    this.#at = skip(this.#text, end);
    if (isObject && this.#key === null) {
      this.#key = shorten(value);
      return true;
    }
    const start = this.values.at(-1)?.end ?? 0;
    this.values.push({ start, end: this.#at, path, parent, key: this.#key, value, depthAfter: this.#open.length });
    this.#key = null;
    return true;
  }
}

function skip(text: string, at: number): number {
  space.lastIndex = at;
  space.test(text);
  return space.lastIndex;
}

/** The end of a string or of a word such as `12` or `null`; `at` itself if neither begins there or the string is unterminated. */
function endOfScalar(text: string, at: number): number {
  if (text[at] === '"') return endOfString(text, at);
  word.lastIndex = at;
  word.test(text);
  return word.lastIndex;
}

function endOfString(text: string, at: number): number {
  for (let quote = text.indexOf('"', at + 1); quote !== -1; quote = text.indexOf('"', quote + 1)) {
    let backslashes = 0;
    while (text[quote - 1 - backslashes] === '\\') backslashes += 1;
    if (backslashes % 2 === 0) return quote + 1;
  }
  return at;
}

/** The value of a string literal, without characters that the database cannot store. */
function unquote(literal: string): string {
  if (!literal.startsWith('"')) return literal;
  return parse(literal).replace(unstorable, ' ').toWellFormed();
}

function parse(literal: string): string {
  try {
    return String(JSON.parse(literal));
  } catch {
    return literal.slice(1, -1);
  }
}

function shorten(key: string): string {
  return [...key.slice(0, 2 * maxKeyLength)].slice(0, maxKeyLength).join('');
}
