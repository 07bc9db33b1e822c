import { z } from 'zod';

/** A JSON Schema of dialect 2020-12, which is OpenAPI 3.1's own. */
export interface JsonSchema {
  [keyword: string]: unknown;
  type?: string | string[];
  $ref?: string;
  properties?: Record<string, JsonSchema>;
  required?: string[];
  anyOf?: JsonSchema[];
  oneOf?: JsonSchema[];
  items?: JsonSchema;
  enum?: unknown[];
  const?: unknown;
  default?: unknown;
  examples?: unknown[];
  description?: string;
}

export const schemaPrefix = '#/components/schemas/';

/** Turns the contract's zod schemas into JSON Schema, and keeps what has a name (`.meta({ id })`) as shared components. */
export interface SchemaBook {
  /** What a client sends (`input`) or gets (`output`). Named schemas in it become references. */
  convert(schema: z.ZodType, io: 'input' | 'output'): JsonSchema;
  /** Every named schema met so far, by name. */
  components(): Record<string, JsonSchema>;
}

export function createSchemaBook(): SchemaBook {
  const components = new Map<string, JsonSchema>();
  return {
    convert(schema, io) {
      const { $schema, $defs, ...root } = z.toJSONSchema(schema, { io }) as JsonSchema & { $defs?: Record<string, JsonSchema> };
      for (const [name, definition] of Object.entries($defs ?? {})) keep(name, refine(definition, io) as JsonSchema);
      return refine(root, io) as JsonSchema;
    },
    components: () => Object.fromEntries([...components].map(([name, schema]) => [name, withDiscriminator(schema)])),
  };

  function keep(name: string, definition: JsonSchema): void {
    const known = components.get(name);
    if (known && JSON.stringify(known) !== JSON.stringify(definition)) throw new Error(`Two schemas are named ${name}.`);
    components.set(name, definition);
  }

  /** Names the property that tells the alternatives of a union apart, where there is one. */
  function withDiscriminator(schema: JsonSchema): JsonSchema {
    const refs = (schema.oneOf ?? []).map(({ $ref = '' }) => $ref);
    const constants = refs.map((ref) => constantsOf(components.get(ref.slice(schemaPrefix.length))));
    const propertyName = Object.keys(constants[0] ?? {}).find((name) => constants.every((values) => values[name] !== undefined));
    if (propertyName === undefined) return schema;
    const mapping = Object.fromEntries(refs.map((ref, index) => [constants[index]?.[propertyName], ref]));
    return { ...schema, discriminator: { propertyName, mapping } };
  }
}

function constantsOf(schema: JsonSchema | undefined): Record<string, string> {
  const constants = Object.entries(schema?.properties ?? {}).filter(([, { const: value }]) => typeof value === 'string');
  return Object.fromEntries(constants.map(([name, { const: value }]) => [name, String(value)]));
}

/** Says what zod says in the words of the document, from the leaves up. */
function refine(node: unknown, io: 'input' | 'output'): unknown {
  if (Array.isArray(node)) return node.map((child) => refine(child, io));
  if (typeof node !== 'object' || node === null) return node;
  const schema = mapValues(node, (child, key) =>
    key === 'properties' ? mapValues(child as object, (property) => refine(property, io)) : refine(child, io),
  ) as JsonSchema;
  if (schema.$ref) return { ...schema, $ref: schema.$ref.replace('#/$defs/', schemaPrefix) };
  // A query parameter is text to zod, and to a reader the number or boolean that it stands for.
  if (schema.override) return pick(schema, ['description', 'examples'], schema.override as JsonSchema);
  // Answers may gain fields: a client must not refuse them.
  if (schema.additionalProperties === false) delete schema.additionalProperties;
  if (schema.format === 'date-time' || (io === 'output' && schema.format === 'email')) delete schema.pattern;
  if (io === 'output' && schema.maximum === Number.MAX_SAFE_INTEGER) delete schema.maximum;
  return joinNull(schema);
}

/** `anyOf` a plain type and null is the type list that says the same. */
function joinNull(schema: JsonSchema): JsonSchema {
  const [first, second, ...rest] = schema.anyOf ?? [];
  if (!first || second?.type !== 'null' || rest.length > 0) return schema;
  if (typeof first.type !== 'string' || first.type === 'object' || first.enum || 'const' in first) return schema;
  return pick(schema, ['description', 'examples', 'default'], { ...first, type: [first.type, 'null'] });
}

function pick(from: JsonSchema, keys: string[], base: JsonSchema): JsonSchema {
  return { ...base, ...Object.fromEntries(keys.filter((key) => key in from).map((key) => [key, from[key]])) };
}

function mapValues(object: object, map: (value: unknown, key: string) => unknown): object {
  return Object.fromEntries(Object.entries(object).map(([key, value]) => [key, map(value, key)]));
}
