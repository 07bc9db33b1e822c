import type { JsonSchema } from '../../../contract/openapi-schemas.ts';
import { resolve } from './described-input.ts';

/** A value just outside a schema: where in the value it is wrong, and the reason that the issue has to give. */
interface Break {
  why: string;
  value: unknown;
  path: (string | number)[];
  reason?: string;
}

/** Values that break each bound of a schema by one, and nothing else. `text` is for places that carry text only, such as a path. */
export function breaksOf(given: JsonSchema, place: 'path' | 'query' | 'body'): Break[] {
  const schema = notNull(resolve(given));
  // The alternatives of the contract are kinds of objects.
  const types = schema.oneOf ? ['object'] : [schema.type].flat();
  const breaks = [
    ...(schema.enum ? [{ why: 'not one of its values', value: 'no-such-value' }] : []),
    ...(types.includes('string') && !schema.enum ? textBreaks(schema) : []),
    ...(types.includes('integer') ? numberBreaks(schema) : []),
    ...(types.includes('boolean') ? [{ why: 'no boolean', value: 'maybe' }] : []),
  ].map((entry) => ({ path: [], ...entry }));
  if (place === 'path') return breaks.filter(({ value }) => value !== '');
  if (place === 'query') return breaks;
  return [
    ...breaks.filter(({ value }) => value !== null),
    ...(types.includes('array') ? arrayBreaks(schema) : []),
    ...wrongTypes(schema, types),
  ];
}

/** Values on each bound of a schema: still right. */
export function edgesOf(given: JsonSchema): unknown[] {
  const schema = notNull(resolve(given));
  const { minLength, maxLength, minimum, maximum, pattern, format } = schema as Record<string, number> & {
    pattern?: string;
    format?: string;
  };
  const lengths = [minLength, maxLength].filter((length) => length !== undefined && !format).map((length) => 'a'.repeat(Number(length)));
  const numbers = [minimum, maximum].filter((bound) => bound !== undefined);
  const alternatives = [...(schema.enum ?? []), ...(schema.type === 'boolean' ? [true, false] : [])];
  return [...lengths.filter((text) => !pattern || new RegExp(pattern, 'u').test(text)), ...numbers, ...alternatives];
}

function textBreaks(schema: JsonSchema): Omit<Break, 'path'>[] {
  const {
    minLength = 0,
    maxLength,
    pattern,
    format,
  } = schema as { minLength?: number; maxLength?: number; pattern?: string; format?: string };
  const lengths = [
    ...(minLength > 0 ? [{ why: 'too short', value: 'a'.repeat(minLength - 1) }] : []),
    ...(maxLength === undefined ? [] : [{ why: 'too long', value: 'a'.repeat(maxLength + 1) }]),
  ];
  if (format) return [...lengths, { why: `no ${format}`, value: 'neither-of-them' }];
  if (pattern === undefined) return lengths;
  const matches = new RegExp(pattern, 'u');
  const fill = 'a'.repeat(Math.max(minLength, 2));
  const strange = ['\u0000', '\u0007', '\u007f', '\u0085', '\u2028', '\n', '\t'].filter(
    (character) => !matches.test(`${fill}${character}${fill}`),
  );
  const isFreeText = matches.test(`${fill} é`);
  const reason = isFreeText ? { reason: 'control_characters' } : {};
  const characters = strange.map((character) => ({
    why: `has ${JSON.stringify(character)}`,
    value: `${fill}${character}${fill}`,
    ...reason,
  }));
  const others = ['Upper', 'inner space', '-first', 'last-', 'a/b', 'é'.repeat(2), 'a'.repeat(65)];
  return [...lengths, ...characters, ...others.filter((value) => !matches.test(value)).map((value) => ({ why: `is ${value}`, value }))];
}

function numberBreaks({ minimum, maximum }: JsonSchema & { minimum?: number; maximum?: number }): Omit<Break, 'path'>[] {
  return [
    ...(minimum === undefined ? [] : [{ why: 'too small', value: minimum - 1 }]),
    ...(maximum === undefined ? [] : [{ why: 'too large', value: maximum + 1 }]),
    { why: 'no whole number', value: 1.5 },
    { why: 'no number', value: 'three' },
  ];
}

function arrayBreaks(schema: JsonSchema): Break[] {
  const { items = {}, minItems, maxItems, examples } = schema as JsonSchema & { minItems?: number; maxItems?: number };
  const [item] = (examples?.[0] ?? ['a']) as unknown[];
  return [
    ...(minItems === undefined ? [] : [{ why: 'too few', value: Array(minItems - 1).fill(item), path: [] }]),
    ...(maxItems === undefined ? [] : [{ why: 'too many', value: Array(maxItems + 1).fill(item), path: [] }]),
    ...breaksOf(items, 'body').map((entry) => ({
      ...entry,
      why: `an item is ${entry.why}`,
      value: [item, entry.value],
      path: [1, ...entry.path],
    })),
  ];
}

function wrongTypes(schema: JsonSchema, types: (string | undefined)[]): Break[] {
  const others: [string, unknown][] = [
    ['string', 'text'],
    ['integer', 7],
    ['boolean', true],
    ['array', []],
    ['object', {}],
    ['null', null],
  ];
  const isNullable = types.includes('null') || schema.nullable;
  return others
    .filter(([type]) => !types.includes(type) && !(type === 'null' && isNullable) && !(type === 'string' && schema.const !== undefined))
    .map(([type, value]) => ({ why: `of type ${type}`, value, path: [] }));
}

/** `anyOf` a schema and null, as that schema that also takes null. */
function notNull(schema: JsonSchema): JsonSchema {
  const [first, second] = schema.anyOf ?? [];
  return first && second?.type === 'null' ? { ...resolve(first), nullable: true } : schema;
}
