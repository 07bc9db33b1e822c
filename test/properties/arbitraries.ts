import fc from 'fast-check';
import type { Break } from './connection-breaker.ts';

/** Stands for one of a list, whatever its length is when the step is run. */
export const index = fc.nat({ max: 11 });

/** A connection that breaks at one of its next statements, now and then. */
export const breaks: fc.Arbitrary<Break | undefined> = fc.oneof(
  { weight: 3, arbitrary: fc.constant(undefined) },
  { weight: 1, arbitrary: fc.record({ statement: fc.integer({ min: 1, max: 12 }), when: fc.constantFrom('before', 'after') }) },
);

export function describeBreak(at: Break | undefined): string {
  return at ? `, breaks ${at.when} statement ${at.statement}` : '';
}
