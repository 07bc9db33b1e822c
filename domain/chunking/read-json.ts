import { createScanner, type JSONScanner } from 'jsonc-parser';
import type { Span } from '../characters.ts';

/** A scalar of a JSON text, with the text before it, and the ends of the objects and arrays that it is the last value of. */
export interface JsonValue extends Span {
  /** The innermost keys that lead to the object or array which holds it, without indexes. */
  path: string[];
  /** How many of those keys are within its record. */
  within: number;
  /** A number that values of the same object or array share. */
  parent: number;
  /** A number that values of the same record share: of an element of an array, or of one of several texts. The first text is 1. */
  record: number;
  /** The value's key; null in an array. */
  key: string | null;
  value: string;
  /** As it is written, with its key. */
  written: Span;
  /** As it is written, without its key. */
  literal: Span;
  /** The number of objects and arrays that are still open after it. */
  depthAfter: number;
}

/** How many keys of a path are kept, and how many characters of a key. Documents that are worth finding by their keys have no more. */
const maxKeys = 4;
const maxKeyLength = 60;

/** `SyntaxKind` and `ScanError` of the scanner, of which only the types can be imported. */
const kinds = { openBrace: 1, closeBrace: 2, openBracket: 3, closeBracket: 4, comma: 5, colon: 6, end: 17 };
const unclosedString = 2;
const unstorable = /[\p{Cc}--[\n\t]]/gv;

/** An open object or array. */
interface Parent extends Pick<JsonValue, 'path' | 'within' | 'record'> {
  number: number;
  isObject: boolean;
}

/**
 * The values of a JSON text, or of several in a row, in order, with their positions. Reads the text once, without recursion, however deeply
 * it is nested. Stops where the text is not JSON or was cut off: the rest belongs to no value. `isPart`: the text is cut out of a document.
 * Values of what begins before it are of the parent and the record 0, and a string that goes on behind it is a value, too.
 */
export function readJsonValues(text: string, { isPart = false } = {}): JsonValue[] {
  const reader = new JsonReader(text, isPart);
  while (reader.readNext());
  return reader.values;
}

class JsonReader {
  readonly values: JsonValue[] = [];
  readonly #scanner: JSONScanner;
  readonly #isPart: boolean;
  readonly #open: Parent[] = [];
  #parents = 0;
  #passedColon = false;
  /** The key of the next value, in an object, and where it begins. */
  #key: { name: string; start: number } | undefined;

  constructor(text: string, isPart: boolean) {
    this.#scanner = createScanner(text, true);
    this.#isPart = isPart;
    this.#skip();
  }

  /** Returns false at the end of the text, or where it stops being JSON. */
  readNext(): boolean {
    const kind: number = this.#scanner.getToken();
    if (kind === kinds.end) return false;
    if (kind === kinds.openBrace || kind === kinds.openBracket) return this.#begin(kind === kinds.openBrace);
    if (kind === kinds.closeBrace || kind === kinds.closeBracket) return this.#end(kind === kinds.closeBrace);
    return this.#readScalar();
  }

  #begin(isObject: boolean): boolean {
    const key = this.#key?.name;
    const { path = [], within = 0, record = 0, isObject: isValue = key !== undefined } = this.#open.at(-1) ?? {};
    const number = ++this.#parents;
    const place = isValue ? { within: Math.min(maxKeys, within + (key === undefined ? 0 : 1)), record } : { within: 0, record: number };
    this.#open.push({ number, isObject, path: key === undefined ? path : [...path, key].slice(-maxKeys), ...place });
    this.#key = undefined;
    this.#skip();
    return true;
  }

  #end(isObject: boolean): boolean {
    const ended = this.#open.pop();
    if (ended ? ended.isObject !== isObject : !this.#isPart) return false;
    this.#key = undefined;
    const end = this.#skip();
    const last = this.values.at(-1);
    if (last) [last.end, last.depthAfter] = [end, this.#open.length];
    return true;
  }

  #readScalar(): boolean {
    const literal = { start: this.#scanner.getTokenOffset(), end: this.#scanner.getPosition() };
    if (this.#scanner.getTokenError() === unclosedString && !this.#isPart) return false;
    const value = this.#scanner.getTokenValue().replace(unstorable, ' ').toWellFormed();
    const { isObject, path = [], within = 0, record = 0, number: parent = 0 } = this.#open.at(-1) ?? {};
    const end = this.#skip();
    if ((isObject ?? (this.#isPart && this.#passedColon)) && !this.#key) {
      // A key that is cut off says nothing.
      this.#key = { name: this.#isPart && literal.start === 0 ? '' : shorten(value), start: literal.start };
      return true;
    }
    const { name: key = null, start = literal.start } = this.#key ?? {};
    const place = { start: this.values.at(-1)?.end ?? 0, end, written: { start, end: literal.end }, literal };
    this.values.push({ ...place, path, within, parent, record, key, value, depthAfter: this.#open.length });
    this.#key = undefined;
    return true;
  }

  /** Moves on to the next token, and returns where it begins. */
  #skip(): number {
    this.#passedColon = false;
    let kind: number = this.#scanner.scan();
    for (; kind === kinds.comma || kind === kinds.colon; kind = this.#scanner.scan()) this.#passedColon ||= kind === kinds.colon;
    return this.#scanner.getTokenOffset();
  }
}

function shorten(key: string): string {
  return [...key.slice(0, 2 * maxKeyLength)].slice(0, maxKeyLength).join('');
}
