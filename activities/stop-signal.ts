import type { Context } from '@temporalio/activity';
import { stillHolds } from '../domain/jobs/claim-job.ts';
import type { JobRow } from '../domain/jobs/job.ts';
import type { ActivityDeps } from './deps.ts';

/** How often an attempt whose workflow is gone checks that it still holds the job. */
const checkMs = 3_000;

/** The signal for an attempt to stop. */
interface StopSignal {
  signal: AbortSignal;
  /** Stops watching. */
  done(): void;
}

/**
 * Aborts when Temporal cancels the attempt. If the reason is only that the workflow is gone, the attempt goes on as long as it holds the
 * job: a reset or terminated workflow costs no attempt and moves no money (docs/rules.md, the row decides).
 */
export function createStopSignal(context: Context, { db, log }: Pick<ActivityDeps, 'db' | 'log'>, job: JobRow): StopSignal {
  const { cancellationSignal } = context;
  const stop = new AbortController();
  let timer: NodeJS.Timeout | undefined;

  const canceled = () => {
    const details = context.cancellationDetails;
    if (!details?.notFound || details.timedOut) return stop.abort(cancellationSignal.reason);
    log.info({ jobId: job.id }, 'the workflow of an attempt is gone; the attempt goes on while the job is its own');
    timer = setInterval(() => void check(), checkMs);
    void check();
  };
  const check = async () => {
    const holds = await stillHolds(db, job).catch(() => true);
    // The signal has aborted already: only the details show that the worker stops, too.
    if (!holds || context.cancellationDetails?.workerShutdown) stop.abort(cancellationSignal.reason);
  };
  if (cancellationSignal.aborted) canceled();
  else cancellationSignal.addEventListener('abort', canceled, { once: true });
  return {
    signal: stop.signal,
    done() {
      clearInterval(timer);
      cancellationSignal.removeEventListener('abort', canceled);
    },
  };
}
