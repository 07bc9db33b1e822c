import { ApplicationFailure } from '@temporalio/workflow';

/** A rule for a field: a description of what it must hold, and a check. */
type Rule = [what: string, isHeld: (value: unknown) => boolean];

export const text: Rule = ['a text', (value) => typeof value === 'string' && value !== ''];
export const flag: Rule = ['true or false', (value) => typeof value === 'boolean'];
export const count: Rule = ['a whole number of 1 or more', (value) => Number.isSafeInteger(value) && Number(value) >= 1];
export const time: Rule = ['a time with its zone, such as 2026-11-01T00:00:00Z', isTime];
/** The rule for fields that only a continued run may set. */
export const carried: Rule = ['left out', (value) => typeof value === 'object'];

/**
 * Checks an input, which operators may write by hand in Temporal's UI or CLI: a mistyped filter would filter nothing. Throws a final
 * failure, `InvalidInput`.
 */
export function checkInput<Input extends object>(input: Input, rules: { [Field in keyof Required<Input>]: Rule }): void {
  if (typeof input !== 'object' || input === null || Array.isArray(input)) throw invalid('The input must be an object.');
  const known = new Map<string, Rule>(Object.entries(rules));
  for (const [name, value] of Object.entries(input)) {
    const rule = known.get(name);
    if (!rule) throw invalid(`The input has no field ${name}. Its fields are ${[...known.keys()].join(', ')}.`);
    const [what, isHeld] = rule;
    if (value !== undefined && !isHeld(value)) throw invalid(`${name} must be ${what}.`);
  }
}

const iso = /^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:\d\d)$/;

/** Accepts only ISO 8601. `Date` also accepts "last week 5", as the first of May 2001. */
function isTime(value: unknown): boolean {
  return typeof value === 'string' && iso.test(value) && !Number.isNaN(Date.parse(value));
}

function invalid(message: string): ApplicationFailure {
  return ApplicationFailure.nonRetryable(message, 'InvalidInput');
}
