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

/** Converts the contract's zod schemas to JSON Schema, and collects those with a name (`.meta({ id })`) as shared components. */
export interface SchemaBook {
  /** Converts the schema of what a client sends (`input`) or receives (`output`). Named schemas in it become references. */
  convert(schema: z.ZodType, io: 'input' | 'output'): JsonSchema;
  /** Every named schema converted so far, by name. */
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

  /** Adds the discriminator of a union, if a constant property distinguishes its alternatives. */
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

/** Adapts zod's JSON Schema to the document, bottom-up. */
function refine(node: unknown, io: 'input' | 'output'): unknown {
  if (Array.isArray(node)) return node.map((child) => refine(child, io));
  if (typeof node !== 'object' || node === null) return node;
  const schema = mapValues(node, (child, key) =>
    key === 'properties' ? mapValues(child as object, (property) => refine(property, io)) : refine(child, io),
  ) as JsonSchema;
  if (schema.$ref) return { ...schema, $ref: schema.$ref.replace('#/$defs/', schemaPrefix) };
  // zod sees a query parameter as text; the document shows the number or boolean that it represents.
  if (schema.override) return pick(schema, ['description', 'examples'], schema.override as JsonSchema);
  // Responses may gain fields, which a client must not refuse.
  if (io === 'output' && schema.additionalProperties === false) delete schema.additionalProperties;
  if (schema.format === 'date-time' || (io === 'output' && schema.format === 'email')) delete schema.pattern;
  if (io === 'output' && schema.maximum === Number.MAX_SAFE_INTEGER) delete schema.maximum;
  return joinNull(schema);
}

/** Replaces `anyOf` of a plain type and null with the equivalent list of types. */
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

/**
 * The example of a schema: its own one, else its constant, default or first enum value, else composed of the examples of its
 * properties, its first alternative or its items.
 */
export function exampleOf(schema: JsonSchema, components: Record<string, JsonSchema>): unknown {
  const known = knownExample(schema);
  if (known) return known.value;
  const part = (child: JsonSchema) => exampleOf(child, components);
  if (schema.$ref) return part(components[schema.$ref.slice(schemaPrefix.length)] ?? {});
  const alternative = (schema.oneOf ?? schema.anyOf)?.[0];
  if (alternative) return part(alternative);
  const [type] = [schema.type].flat();
  if (type === 'object') return Object.fromEntries(Object.entries(schema.properties ?? {}).map(([name, child]) => [name, part(child)]));
  if (type === 'array') return schema.items ? [part(schema.items)] : [];
  if (type === 'boolean') return true;
  if (type === 'integer' || type === 'number') return schema.minimum ?? 0;
  return '…';
}

function knownExample(schema: JsonSchema): { value: unknown } | undefined {
  if (schema.examples) return { value: schema.examples[0] };
  if ('const' in schema) return { value: schema.const };
  if ('default' in schema) return { value: schema.default };
  return schema.enum ? { value: schema.enum[0] } : undefined;
}
