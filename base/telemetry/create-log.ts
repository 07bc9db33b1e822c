import { type Logger, pino } from 'pino';
import { describeError } from './describe-error.ts';
import { readLogFields } from './log-context.ts';
import { currentTraceId } from './spans.ts';

interface LogOptions {
  level: string;
  /** The fields of every log line of the process. */
  base: Record<string, string>;
}

/**
 * The log of a process. Each line is JSON and has the fields of the request or the step during which it was written. An error, as `err` or, by
 * Temporal's SDK, as `error`, is told without values.
 */
export function createLog({ level, base }: LogOptions, destination: { write(line: string): void } = standardOutput()): Logger {
  const serializers = { err: serialize, error: serialize };
  const options = { level, base, mixin: readFields, serializers };
  return pino(options, destination);
}

let output: NodeJS.WriteStream | undefined;

/**
 * Standard output, on which lines are lost while its disk is full. Pino's own destination ends the process then, and blocks it for ever at
 * a fatal line.
 */
function standardOutput(): NodeJS.WriteStream {
  output ??= process.stdout.on('error', () => undefined);
  return output;
}

function readFields(): object {
  const traceId = currentTraceId();
  return traceId === undefined ? readLogFields() : { traceId, ...readLogFields() };
}

/** A text under the same name stays as it is. */
function serialize(value: unknown): unknown {
  return typeof value === 'object' && value !== null ? describeError(value) : value;
}
