import { describeError, exitCodes, Failure, interrupted, sayError } from './failure.ts';
import { createProgress } from './progress.ts';
import { type Output, plain, type Terminal } from './terminal.ts';

/** What became of a file; with an error beside another status, its job did not succeed. */
export type Outcome<S extends string> = { path: string; documentId?: string; reason?: string } & (
  | { status: S; error?: unknown }
  | { status: 'failed'; error: unknown }
);

/** Counts what becomes of files, and shows it. */
interface Tally<S extends string> {
  add(outcome: Outcome<S>): void;
  /** Counts bytes that were moved; fewer than none if they are moved again. */
  move(bytes: number): void;
  /** Runs the work, and prints the counts in any case. Throws Failure if files or their jobs have failed, or the command was interrupted. */
  during(work: () => Promise<void>): Promise<void>;
}

interface TallyOptions<S extends string> {
  /** How each status is said, in the order of the last line: `{ uploaded: 'uploaded', unchanged: 'already there' }`. */
  words: Record<S, string>;
  /** What is done with a file: `uploaded`. */
  verb: string;
  /** How many files there are, if that is known. */
  total?: number;
  /** Whether people are shown the id of each document, too, and why a file is skipped. */
  isDetailed?: boolean;
}

export function createTally<S extends string>(
  terminal: Terminal,
  output: Output,
  { words, verb, total, isDetailed }: TallyOptions<S>,
): Tally<S> {
  const { signal } = terminal;
  const progress = createProgress(terminal);
  const all: Record<string, string> = { ...words, failed: 'failed' };
  const counts = Object.fromEntries(Object.keys(all).map((status) => [status, 0]));
  const done = () => Object.values(counts).reduce((sum, count) => sum + count, 0);
  let movedBytes = 0;
  let failedJobs = 0;
  const show = () => {
    const files = `${done()}${total === undefined ? '' : ` of ${total}`} files`;
    progress.show(`${files}, ${(movedBytes / 1e6).toFixed(1)} MB${counts.failed ? `, ${counts.failed} failed` : ''}`);
  };
  const tell = (outcome: Outcome<S>) => {
    const { path, status, documentId, reason } = outcome;
    if (isDetailed && documentId) {
      progress.clear();
      output.show(outcome, plain(`${documentId}  ${all[status]}  ${path}`));
    }
    if ('error' in outcome) progress.note(plain(`${path}: ${sayError(outcome.error)}`));
    else if (isDetailed && reason) progress.note(plain(`${path}: ${all[status]}, ${reason}`));
  };
  signal.addEventListener('abort', () => progress.note('Finishing the files under way. Ctrl-C again ends at once.'), { once: true });
  return {
    add(outcome) {
      counts[outcome.status] = (counts[outcome.status] ?? 0) + 1;
      if (outcome.status !== 'failed' && 'error' in outcome) failedJobs += 1;
      if (output.isJson) output.show('error' in outcome ? { ...outcome, error: describeError(outcome.error) } : outcome, '');
      else tell(outcome);
      show();
    },
    move(bytes) {
      movedBytes += bytes;
      show();
    },
    async during(work) {
      try {
        await work();
      } finally {
        progress.clear();
        const said = Object.entries(all).map(([status, word]) => `${counts[status]} ${word}`);
        output.show({ ...counts, ...(failedJobs > 0 && { failedJobs }) }, `${said.join(', ')}.`);
      }
      if (signal.aborted) throw new Failure('Interrupted. The same command goes on from here.', interrupted);
      const problems = [
        ...(counts.failed ? [`${counts.failed} of ${total ?? done()} files were not ${verb}.`] : []),
        ...(failedJobs ? [`The jobs of ${failedJobs} of ${total ?? done()} files did not succeed.`] : []),
      ];
      if (problems.length > 0) throw new Failure(problems.join(' '), exitCodes.partly);
    },
  };
}
