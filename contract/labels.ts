import { z } from 'zod';
import { isStorable } from './characters.ts';
import type { Issue } from './errors.ts';
import { distinct, singleLine } from './fields.ts';

const maxTags = 50;
const longestTag = 64;
/** As JSON. */
const maxMetadataBytes = 16 * 1024;
/** The metadata itself is the first level. */
const deepestMetadata = 5;

export const tag = singleLine({ min: 1, max: longestTag }).meta({ examples: ['contract'] });

export const tags = z
  .array(tag)
  .max(maxTags)
  .overwrite(distinct)
  .describe('Labels to find the document by. Upper and lower case differ; one that is there twice is kept once.')
  .meta({ examples: [['contract', '2026']] });

// Not `z.record`, which leaves out a field `__proto__` before anything can refuse it.
const jsonObject = z
  .unknown()
  .refine(isPlainObject, { error: 'must be an object', abort: true })
  .meta({ override: { type: 'object', propertyNames: { type: 'string' }, additionalProperties: {} } }) as unknown as z.ZodType<
  Record<string, unknown>,
  Record<string, unknown>
>;

export const metadata = jsonObject
  .superRefine((value, context) => {
    const problem = findProblem(value, []) ?? findExcess(value);
    if (problem) context.addIssue({ code: 'custom', ...problem });
  })
  .describe(
    `Any JSON object of at most ${maxMetadataBytes} bytes as JSON, at most ${deepestMetadata} levels deep, without a field \`__proto__\`.`,
  )
  .meta({ examples: [{ customer: 'Korvid Ridge', year: 2026 }] });

/** Fields of the metadata and what they have to be. */
export const metadataFilter = jsonObject
  .superRefine((value, context) => {
    const problem = findProblem(value, []) ?? findExcess(value) ?? findUnfit(value, []);
    if (problem) context.addIssue({ code: 'custom', ...problem });
  })
  .describe(
    'Documents whose metadata has each of these fields with exactly this value: a text, a number, a boolean or null. An object names fields of the object in that place.',
  )
  .meta({ examples: [{ year: 2026 }] });

type Problem = Pick<Issue, 'path' | 'message' | 'params'>;
type Path = Problem['path'];

/** Values that are not JSON, cannot be stored, or are nested too deeply. Over `/rpc` a value may be a Date or a Map. */
function findProblem(value: unknown, path: Path): Problem | undefined {
  if (typeof value === 'string') return findInText(value, path);
  if (value === null || typeof value === 'boolean') return undefined;
  if (typeof value === 'number') return Number.isFinite(value) ? undefined : { path, message: 'must be a number that JSON can hold' };
  if (!Array.isArray(value) && !isPlainObject(value)) return { path, message: 'must be JSON' };
  if (path.length >= deepestMetadata) return { path, message: `must not be nested deeper than ${deepestMetadata} levels` };
  const children: [string | number, unknown][] = Array.isArray(value) ? [...value.entries()] : Object.entries(value);
  for (const [key, child] of children) {
    const problem = (typeof key === 'string' ? findInKey(key, path) : undefined) ?? findProblem(child, [...path, key]);
    if (problem) return problem;
  }
  return undefined;
}

/** The name of every object's prototype is no name of a field: who copies fields one by one would lose it, or do worse. */
function findInKey(key: string, path: Path): Problem | undefined {
  return key === '__proto__' ? { path, message: 'must not have a field __proto__' } : findInText(key, path);
}

function findInText(text: string, path: Path): Problem | undefined {
  if (isStorable(text)) return undefined;
  return { path, message: 'must be well-formed Unicode without NUL', params: { reason: 'control_characters' } };
}

function isPlainObject(value: unknown): value is Record<string, unknown> {
  if (typeof value !== 'object' || value === null) return false;
  const prototype = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}

function findExcess(value: object): Problem | undefined {
  const bytes = new TextEncoder().encode(JSON.stringify(value)).length;
  return bytes <= maxMetadataBytes ? undefined : { path: [], message: `must have at most ${maxMetadataBytes} bytes as JSON` };
}

/** Values that no index finds: a list, or an object without fields. */
function findUnfit(value: object, path: Path): Problem | undefined {
  const fields = Object.entries(value);
  if (fields.length === 0) return { path, message: 'must name a field' };
  for (const [key, child] of fields) {
    if (Array.isArray(child)) return { path: [...path, key], message: 'must be a text, a number, a boolean, null, or an object' };
    const problem = typeof child === 'object' && child !== null ? findUnfit(child, [...path, key]) : undefined;
    if (problem) return problem;
  }
  return undefined;
}
