import { z } from 'zod';
import { text } from './fields.ts';

/** The schemas that ship, by their names. `domain/fields/shipped-schemas.ts` has them. */
const shippedSchemaNames = ['invoice', 'receipt', 'contract', 'letter'] as const;
export type ShippedSchemaName = (typeof shippedSchemaNames)[number];

/** What a value may be. */
export type LeafSchema = z.output<typeof leaf>;
export type FieldSchema = LeafSchema | ObjectSchema | { type: 'array'; description?: string | undefined; items: FieldSchema };
export interface ObjectSchema {
  type: 'object';
  description?: string | undefined;
  properties: Record<string, FieldSchema>;
}

const maxBytes = 16 * 1024;
const maxValues = 100;
/** The document itself is the first level. */
const deepest = 5;

const notes = { title: text({ max: 200 }).optional(), description: text({ max: 1_000 }).optional() };
const bounds = { minimum: z.number().optional(), maximum: z.number().optional() };
const choices = z
  .array(text({ min: 1, max: 200 }))
  .min(1)
  .max(100);

const leaf = z.discriminatedUnion('type', [
  z.strictObject({
    ...notes,
    type: z.literal('string'),
    enum: choices.optional(),
    format: z.literal('date').optional(),
    maxLength: z.int().min(1).optional(),
  }),
  z.strictObject({ ...notes, type: z.literal('number'), ...bounds }),
  z.strictObject({ ...notes, type: z.literal('integer'), ...bounds }),
  z.strictObject({ ...notes, type: z.literal('boolean') }),
]);
const fieldName = z
  .string()
  .regex(/^\p{L}[\p{L}\p{M}\p{N}_-]{0,63}$/u, 'must begin with a letter, and have at most 64 letters, digits, hyphens and underscores');
const object = z.strictObject({
  ...notes,
  $schema: text({ max: 200 }).optional(),
  type: z.literal('object'),
  get properties(): z.ZodType<Record<string, FieldSchema>> {
    return z.record(fieldName, node).refine((properties) => Object.keys(properties).length > 0, 'must name a field');
  },
  required: z.array(text({ max: 200 })).optional(),
  additionalProperties: z.boolean().optional(),
});
const array = z.strictObject({
  ...notes,
  type: z.literal('array'),
  get items(): z.ZodType<FieldSchema> {
    return node;
  },
});
const node: z.ZodType<FieldSchema> = z.discriminatedUnion('type', [object, array, ...leaf.options]);

const noSchema = `must be one of ${shippedSchemaNames.join(', ')}, or a JSON Schema of an object`;

/** A schema by its name, or as it is. It has no patterns and no references, so that checking with it costs what its size says. */
export const fieldSchema = z
  .unknown()
  .superRefine((value, context) => {
    const named: readonly unknown[] = shippedSchemaNames;
    if (named.includes(value)) return;
    const problem = findProblem(value);
    if (problem) return context.addIssue({ code: 'custom', message: problem });
    for (const issue of object.safeParse(value).error?.issues ?? []) context.addIssue(wordedKey(issue) as never);
  })
  .describe(
    `The name of a schema that ships, or a JSON Schema of at most ${maxBytes} bytes, ${maxValues} values and ${deepest} levels. Its keywords are \`type\` (one), \`properties\`, \`items\`, \`description\`, \`title\`, \`enum\` (texts), \`format: date\`, \`maxLength\`, \`minimum\` and \`maximum\`; the dialect, \`required\` and \`additionalProperties\` change nothing, since every field is returned, and no other one.`,
  )
  .meta({
    override: {
      anyOf: [
        { type: 'string', enum: [...shippedSchemaNames] },
        { type: 'object', propertyNames: { type: 'string' }, additionalProperties: {} },
      ],
    },
    examples: ['invoice'],
  }) as unknown as z.ZodType<ShippedSchemaName | Record<string, unknown>, ShippedSchemaName | Record<string, unknown>>;

/** zod says of a key only that it is invalid. */
function wordedKey(issue: z.core.$ZodIssue) {
  return issue.code === 'invalid_key' ? { ...issue, code: 'custom', message: issue.issues[0]?.message } : { ...issue };
}

/** What is looked at before the schema is walked through. */
function findProblem(value: unknown): string | undefined {
  if (typeof value !== 'object' || value === null || (value as { type?: unknown }).type !== 'object') return noSchema;
  const json = JSON.stringify(value);
  if (new TextEncoder().encode(json).length > maxBytes) return `must have at most ${maxBytes} bytes as JSON`;
  // zod leaves such a key out before anything can refuse it.
  if (json.includes('"__proto__":')) return 'must not have a field __proto__';
  const { depth, values } = measure(value);
  if (depth > deepest) return `must not be nested deeper than ${deepest} levels`;
  return values > maxValues ? `must have at most ${maxValues} values` : undefined;
}

function measure(schema: unknown): { depth: number; values: number } {
  const { properties, items } = (schema ?? {}) as { properties?: object; items?: object };
  const children = properties ? Object.values(properties) : items ? [items] : [];
  if (children.length === 0) return { depth: 0, values: 1 };
  const measured = children.map(measure);
  return { depth: 1 + Math.max(...measured.map(({ depth }) => depth)), values: measured.reduce((sum, { values }) => sum + values, 0) };
}
