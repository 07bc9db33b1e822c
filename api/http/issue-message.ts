import type { z } from 'zod';

type ZodIssue = z.core.$ZodIssue;

/** Zod's messages for schemas without messages of their own. */
const unworded = /^(?:Invalid (?:input: expected|option:|discriminator value|ISO datetime)|Too (?:small|big):|Unrecognized key)/;

/** The message for a body that is JSON, but not an object. */
export const notAnObject = 'The body must be a JSON object.';

const kinds: Record<string, string> = {
  string: 'a string',
  number: 'a number',
  int: 'an integer',
  boolean: 'true or false',
  array: 'an array',
  object: 'an object',
  record: 'an object',
};
const units: Record<string, string> = { string: 'character', array: 'item' };

/** The message of zod's issue, in the style of the contract's own messages: `is required`, `must have at most 48 characters`. */
export function messageOf(issue: ZodIssue): string {
  if (issue.path.length === 0 && issue.code === 'invalid_type' && issue.expected === 'object') return notAnObject;
  if (issue.path.length === 0 || !unworded.test(issue.message)) return issue.message;
  if (issue.code === 'invalid_type') {
    if (issue.message.endsWith('received undefined')) return 'is required';
    const kind = kinds[issue.expected];
    return kind === undefined ? issue.message : `must be ${kind}`;
  }
  const options = optionsOf(issue);
  if (options) return options.length === 1 ? `must be ${options}` : `must be one of ${options.join(', ')}`;
  if (issue.code === 'invalid_format' && issue.format === 'datetime') return 'must be a time in UTC, such as 2026-11-21T12:00:00.000Z';
  if (issue.code === 'unrecognized_keys') return `must not have ${issue.keys.join(', ')}`;
  if (issue.code === 'too_small' && issue.inclusive !== false) return describeBound(issue.origin, 'least', issue.minimum);
  if (issue.code === 'too_big' && issue.inclusive !== false) return describeBound(issue.origin, 'most', issue.maximum);
  return issue.message;
}

/** The allowed values, if a value is none of them or its discriminator selects no schema. */
function optionsOf(issue: ZodIssue): unknown[] | undefined {
  if (issue.code === 'invalid_value') return issue.values;
  return issue.code === 'invalid_union' && 'options' in issue ? issue.options : undefined;
}

function describeBound(origin: string, side: 'least' | 'most', bound: number | bigint): string {
  const unit = units[origin];
  return unit === undefined ? `must be at ${side} ${bound}` : `must have at ${side} ${bound} ${unit}${Number(bound) === 1 ? '' : 's'}`;
}
