import { ContinueAsNew, proxySinks, type WorkflowInterceptors, workflowInfo } from '@temporalio/workflow';
import { type TraceSinks, traceparentOf, withTraceparent } from '../base/telemetry/trace-header.ts';

const { traces } = proxySinks<TraceSinks>();

/**
 * Makes a workflow run a span of the trace of its start, and passes the trace on to its activities. Without a trace it changes nothing.
 * This depends only on the history, so workers with and without tracing replay it alike.
 */
export function interceptors(): WorkflowInterceptors {
  const { workflowType, runId, startTime } = workflowInfo();
  /** The end of a run's id is random, and the same in each replay. */
  const spanId = runId.replaceAll('-', '').slice(-16);
  let started: string | undefined;

  async function traced<T>(traceparent: string, run: Promise<T>): Promise<T> {
    const end = (failed: boolean) =>
      traces.ended({ name: `RunWorkflow:${workflowType}`, traceparent, spanId, startMs: startTime.getTime(), endMs: Date.now(), failed });
    try {
      const result = await run;
      end(false);
      return result;
    } catch (error) {
      end(!(error instanceof ContinueAsNew));
      throw error;
    }
  }

  return {
    inbound: [
      {
        execute(input, next) {
          started = traceparentOf(input.headers);
          return started === undefined ? next(input) : traced(started, next(input));
        },
      },
    ],
    outbound: [
      {
        scheduleActivity: (input, next) =>
          next({ ...input, headers: withTraceparent(input.headers, started?.replace(/-[0-9a-f]{16}-/, `-${spanId}-`)) }),
        continueAsNew: (input, next) => next({ ...input, headers: withTraceparent(input.headers, started) }),
      },
    ],
  };
}
