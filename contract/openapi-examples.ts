import { type JsonSchema, schemaPrefix } from './openapi-schemas.ts';

/**
 * Puts an example together from those of its parts: the schema's own one, else its constant, default or first value, else that
 * of each property, of the first alternative, of one item.
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
