import { SheafError } from '../index.ts';
import { describeError, exitCodes, Failure, sayError } from './failure.ts';
import type { Run } from './run.ts';

/**
 * Does a step for each id. One that the service refuses is told on stderr, and the others follow. Throws Failure at the end if some were
 * refused, and at once what would meet every id, or the only one.
 */
export async function forEachId({ output }: Run, ids: string[], verb: string, step: (id: string) => Promise<void>): Promise<void> {
  let refused = 0;
  for (const id of ids) {
    try {
      await step(id);
    } catch (error) {
      if (ids.length === 1 || !isOfOne(error)) throw error;
      refused += 1;
      output.note(output.isJson ? JSON.stringify({ error: { id, ...describeError(error) } }) : `${id}: ${sayError(error)}`);
    }
  }
  if (refused > 0) throw new Failure(`${refused} of ${ids.length} were not ${verb}.`, exitCodes.partly);
}

/** What the service refuses because of the row that an id names. */
const codesOfOne = ['BAD_REQUEST', 'FORBIDDEN', 'NOT_FOUND', 'CONFLICT', 'LEGAL_HOLD', 'PRECONDITION_FAILED'];

function isOfOne(error: unknown): boolean {
  return error instanceof SheafError && error.defined && codesOfOne.includes(error.code);
}
