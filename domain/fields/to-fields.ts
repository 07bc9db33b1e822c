import type { FieldSchema, LeafSchema, ObjectSchema } from '../../contract/field-schema.ts';
import type { DocumentPassage } from './document-passages.ts';
import { type ProvenValue, proveValue, type SaidValue } from './prove-value.ts';

/** A value of the result, with the quote that supports it. Positions count characters of the document's text. */
interface Field {
  path: string;
  value: SaidValue['value'] | null;
  page: number | null;
  quote: string | null;
  start: number | null;
  end: number | null;
  exact: boolean;
  recognized: boolean;
  confidence: number;
}

/** The values of a schema in a document. */
interface Fields {
  data: Record<string, unknown>;
  fields: Field[];
  withheld: number;
}

/** A value with its JSON Pointer: for each level the key of an object or the number of an item. */
interface Located extends SaidValue {
  path: string;
}

/** The maximum number of values of a result: a list of a hundred lines with five columns. */
const maxValues = 500;
/** The confidence in a value by what proves it (docs/answers.md, fields). */
const confidences = { words: 1, form: 0.9, choice: 0.5 };
/** The factor for a quote that was found only with other letters. */
const inexact = 0.8;

/**
 * Puts together the values that a model has read from each part of a document. The result has every field of the schema and no other one.
 * Values that are not proven are null, and items of lists without proven values are left out. Of several values of a field the one with the
 * highest confidence counts, or the first of equals.
 */
export function toFields(schema: ObjectSchema, parts: Located[][], passages: DocumentPassage[]): Fields {
  const found = proveAll(schema, parts, new Map(passages.map((passage) => [passage.id, passage])));
  const fields: Field[] = [];
  const data = build(schema, '', '') as Record<string, unknown>;
  const total = parts.reduce((sum, { length }) => sum + length, 0);
  return { data, fields, withheld: total - fields.filter(({ value }) => value !== null).length };

  /** `key`: the pointer into the values that were read, whose items are numbered by part. `path`: the pointer into the result. */
  function build(node: FieldSchema, key: string, path: string): unknown {
    if (node.type === 'object') {
      const entries = Object.entries(node.properties);
      return Object.fromEntries(entries.map(([name, child]) => [name, build(child, `${key}/${name}`, `${path}/${name}`)]));
    }
    if (node.type === 'array') {
      return itemsOf(found.keys(), key).map((item, index) => build(node.items, `${key}/${item}`, `${path}/${index}`));
    }
    const field = found.get(key);
    fields.push({ ...(field ?? unknown), path });
    return field?.value ?? null;
  }
}

const unknown = { value: null, page: null, quote: null, start: null, end: null, exact: true, recognized: false, confidence: 0 };

type Found = Map<string, Omit<Field, 'path'>>;

function proveAll(schema: ObjectSchema, parts: Located[][], passages: Map<string, DocumentPassage>): Found {
  const found: Found = new Map();
  for (const [part, said] of parts.entries()) {
    for (const value of said) {
      const place = locate(schema, value.path, part);
      const passage = passages.get(value.passage);
      const proven = place && proveValue(value, place.leaf, passage?.quoted);
      if (!proven || !passage) continue;
      const field = toField(proven, passage);
      const known = found.get(place.key);
      if (known ? known.confidence < field.confidence : found.size < maxValues) found.set(place.key, field);
    }
  }
  return found;
}

/** The key and the schema of a JSON Pointer of one part of the document. Undefined if the schema has no value there. */
function locate(schema: ObjectSchema, path: string, part: number): { key: string; leaf: LeafSchema } | undefined {
  let node: FieldSchema = schema;
  let key = '';
  for (const step of path.split('/').slice(1)) {
    const child: FieldSchema | undefined = childOf(node, step);
    if (!child) return undefined;
    key += `/${node.type === 'array' ? `${part}.${Number(step)}` : step}`;
    node = child;
  }
  return node.type === 'object' || node.type === 'array' ? undefined : { key, leaf: node };
}

function childOf(node: FieldSchema, step: string): FieldSchema | undefined {
  if (node.type === 'array') return /^\d{1,6}$/.test(step) ? node.items : undefined;
  return node.type === 'object' && Object.hasOwn(node.properties, step) ? node.properties[step] : undefined;
}

/** The items of a list that have a value, in the order of the parts of the document and then of their numbers. */
function itemsOf(keys: Iterable<string>, list: string): string[] {
  const items = [...keys].flatMap((key) => (key.startsWith(`${list}/`) ? [key.slice(list.length + 1).split('/')[0] ?? ''] : []));
  const order = (item: string) => item.split('.').map(Number);
  return [...new Set(items)].sort((one, other) => {
    const [[part = 0, number = 0], [otherPart = 0, otherNumber = 0]] = [order(one), order(other)];
    return part - otherPart || number - otherNumber;
  });
}

function toField({ value, citation, by }: ProvenValue, { page, laterPages, quoted, certainty }: DocumentPassage): Omit<Field, 'path'> {
  const { quote, start, end, exact } = citation;
  const passed = laterPages.filter((pageStart) => pageStart <= start).length;
  const confidence = Math.round(confidences[by] * (exact ? 1 : inexact) * certainty * 100) / 100;
  return { value, page: page === null ? null : page + passed, quote, start, end, exact, recognized: quoted.recognized, confidence };
}
