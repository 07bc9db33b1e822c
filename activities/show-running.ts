import type { Context } from '@temporalio/activity';
import type { Logger } from 'pino';
import { signals } from '../contract/intents/definitions.ts';

/** An attempt that ends earlier is not shown: each signal costs a task of the workflow, and nobody would see it. */
const showAfterMs = 3_000;
/** Temporal may be away, which delays no attempt. */
const patienceMs = 2_000;

/** What Temporal shows of an attempt. */
export interface Shown {
  /** Takes it back, because the job waits for its next attempt. */
  queuedAgain(): Promise<void>;
  /** Shows nothing any more. */
  done(): void;
}

/** Has the workflow show by its search attribute `JobStatus` that its job runs, as soon as the attempt has run for a while. */
export function showRunning(context: Context, log: Logger): Shown {
  const { workflowId = '', runId } = context.info.workflowExecution ?? {};
  const tell = async () => {
    const { client } = context;
    const signal = () => client.workflow.getHandle(workflowId, runId).signal(signals.attemptRuns);
    await client
      .withDeadline(Date.now() + patienceMs, signal)
      .catch((err: unknown) => log.debug({ err }, 'the workflow of an attempt was not told to show its job'));
  };
  let telling: Promise<void> | undefined;
  const timer = setTimeout(() => {
    telling = tell();
  }, showAfterMs);
  return {
    async queuedAgain() {
      clearTimeout(timer);
      if (!telling) return;
      await telling;
      await tell();
    },
    done: () => clearTimeout(timer),
  };
}
