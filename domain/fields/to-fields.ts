import type { FieldSchema, LeafSchema, ObjectSchema } from '../../contract/field-schema.ts';
import { type CutDocument, placeOf } from './document-passages.ts';
import { type FoundValue, findValue, type SaidValue } from './find-value.ts';
import { createNearness } from './is-nearer.ts';

/** A value of the result, with the sentence, item or row that has it. Positions count characters of the document's text. */
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
/** The confidence in a value by how its units have it (docs/answers.md, fields). */
const confidences = { words: 1, form: 0.9, choice: 0.5 };
/** The factor for a value where another one of its kind stands nearer to the name of the field. */
const doubtful = 0.5;

/**
 * Puts together the values that a model has read from each part of a document. The result has every field of the schema and no other one.
 * Values that the document does not have are null, and items of lists without values are left out. Of several values of a field the one with the
 * highest confidence counts, or the first of equals.
 */
export function toFields(schema: ObjectSchema, parts: Located[][], document: CutDocument): Fields {
  const found = findAll(schema, parts, document);
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

function findAll(schema: ObjectSchema, parts: Located[][], document: CutDocument): Found {
  const passages = new Map(document.passages.map((passage) => [passage.id, passage]));
  const isNearerElsewhere = createNearness(document.units);
  const found: Found = new Map();
  for (const [part, said] of parts.entries()) {
    for (const value of said) {
      const place = locate(schema, value.path, part);
      const one = place && findValue(value, place.leaf, passages.get(value.passage));
      if (!one) continue;
      const known = found.get(place.key);
      const counts = ({ confidence }: Omit<Field, 'path'>) => (known ? known.confidence < confidence : found.size < maxValues);
      const certain = toField(one, 1, document);
      if (!counts(certain)) continue;
      const name = value.path.split('/').findLast((step) => !/^\d+$/.test(step)) ?? '';
      const isDoubtful = !/\/\d+\//.test(value.path) && isNearerElsewhere(one, name, place.leaf);
      const field = isDoubtful ? toField(one, doubtful, document) : certain;
      if (counts(field)) found.set(place.key, field);
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

function toField({ value, units, by }: FoundValue, factor: number, document: CutDocument): Omit<Field, 'path'> {
  const span = { start: units[0]?.start ?? 0, end: units.at(-1)?.end ?? 0 };
  const { certainty, ...place } = placeOf(document, span);
  const confidence = Math.round(confidences[by] * factor * certainty * 100) / 100;
  return { value, ...place, quote: document.text.slice(span.start, span.end), exact: true, confidence };
}
