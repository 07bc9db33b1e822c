import { CommanderError } from 'commander';
import { SheafError } from '../index.ts';

/** How a command ends: docs/integrations.md says it to users. */
export const exitCodes = { done: 0, failed: 1, misunderstood: 2, notAllowed: 3, notReached: 4, partly: 5, limited: 6 } as const;
export const interrupted = 130;

/** An error whose message is all that a user has to know. */
export class Failure extends Error {
  readonly exitCode: number;

  constructor(message: string, exitCode: number = exitCodes.failed) {
    super(message);
    this.exitCode = exitCode;
  }
}

/** The exit code of an error. */
export function exitCodeOf(error: unknown): number {
  if (error instanceof Failure) return error.exitCode;
  if (error instanceof CommanderError) return exitCodes.misunderstood;
  if (!(error instanceof SheafError)) return exitCodes.failed;
  if (error.is('BAD_REQUEST')) return exitCodes.misunderstood;
  if (error.is('LIMIT_REACHED')) return exitCodes.limited;
  if (error.status === 401 || error.status === 403) return exitCodes.notAllowed;
  const isAway = error.is('NETWORK') || error.is('TIMEOUT') || error.is('UNEXPECTED_ANSWER') || [502, 503, 504].includes(error.status);
  return isAway ? exitCodes.notReached : exitCodes.failed;
}

/** What is known of an error, for `--json`. */
export function describeError(error: unknown): object {
  const message = error instanceof Error ? error.message : String(error);
  if (!(error instanceof SheafError)) return { code: 'FAILED', message };
  const { code, status, requestId, data } = error;
  return { code, message, ...(status > 0 ? { status } : {}), ...(requestId ? { requestId } : {}), ...(data ? { data } : {}) };
}

/** An error in a sentence, with the request by which an operator finds it in the log. */
export function sayError(error: unknown): string {
  if (!(error instanceof SheafError)) return error instanceof Error ? error.message : String(error);
  const request = error.requestId ? ` (request ${error.requestId})` : '';
  return `${error.code}: ${error.message}${request}`;
}
