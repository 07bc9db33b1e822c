import type { Priority } from '@temporalio/common';
import {
  CancellationScope,
  condition,
  isCancellation,
  proxyActivities,
  setCurrentDetails,
  sleep,
  workflowInfo,
} from '@temporalio/workflow';
import type { Activities } from '../activities/index.ts';
import type { JobState } from '../domain/jobs/job.ts';
import type { AttemptFailure } from '../domain/jobs/settle-attempt.ts';
import { jobTaskQueue, unknownPayloadKey } from './definitions.ts';
import type { RunJobInput } from './inputs.ts';
import { type AttemptReport, canceledByOperator, describeFailure, describeWait, isCanceled, type Unfinished } from './job-outcomes.ts';

const { settleAttempt } = proxyActivities<Activities>({
  startToCloseTimeout: '30 seconds',
  retry: { initialInterval: '1 second', maximumInterval: '30 seconds' },
});

/** While another run holds the job: long enough for a short history, short enough to follow the sweep. */
const heldElsewhereMs = 15_000;

/** After an attempt came to a worker without the key of its input, which has cost the job nothing: another worker may have it. */
const undecryptedMs = 10_000;

/**
 * The place in the queue of an attempt that a full worker handed back. It has waited there once, so it goes before the others, whose priority
 * is 3. But if only its own organization keeps it from a slot, others must not wait behind it: it takes turns with them, and with the rest of
 * its organization.
 */
function priorityOf({ handedBack = false, behindOwn = false }: HandBack, organizationId: string): Priority | undefined {
  if (behindOwn) return { fairnessKey: `${organizationId}/back` };
  return handedBack ? { priorityKey: 2 } : undefined;
}

interface HandBack {
  handedBack?: boolean;
  behindOwn?: boolean;
}

/** The steps of one run of the workflow. None throws: crashes, timeouts, errors and cancellations are settled against the row. */
export class JobRun {
  readonly #input: RunJobInput;
  readonly #runJobAttempt;
  #attempts = 0;
  #handedBack: HandBack = {};
  /** The job became final, and no step has looked at the row since. */
  #woken = false;
  #attemptScope: CancellationScope | undefined;

  constructor(input: RunJobInput) {
    this.#input = input;
    this.#runJobAttempt = proxyActivities<Activities>({
      taskQueue: jobTaskQueue(input.kind),
      startToCloseTimeout: input.timeoutMs * 10,
      heartbeatTimeout: '10 seconds',
      retry: { maximumAttempts: 1 },
      cancellationType: 'WAIT_CANCELLATION_COMPLETED',
    }).runJobAttempt;
  }

  /** An attempt, unless the job became final before the workflow began: the attempt would only wait in the queue. */
  firstStep(): 'attempt' | 'look' {
    return this.#woken ? 'look' : 'attempt';
  }

  /** The job became final: takes back an attempt that no worker has begun, and ends a wait. */
  lookAgain(): void {
    this.#woken = true;
    this.#attemptScope?.cancel();
  }

  async attempt(): Promise<AttemptReport> {
    const { jobId, kind, organizationId } = this.#input;
    const claimedBy = `${workflowInfo().runId}/${++this.#attempts}`;
    const priority = priorityOf(this.#handedBack, organizationId);
    setCurrentDetails(`Attempt ${this.#attempts} of this run is under way or waits for a worker.`);
    try {
      this.#attemptScope = new CancellationScope();
      const state = await this.#attemptScope.run(() =>
        this.#runJobAttempt.executeWithOptions(priority ? { priority } : {}, [{ jobId, kind, organizationId, claimedBy }]),
      );
      this.#handedBack = state.status === 'queued' ? state : {};
      return state;
    } catch (error) {
      const failure = describeFailure(error);
      const state = await this.#settle(claimedBy, failure);
      const undecrypted = failure.code === unknownPayloadKey && state.status === 'queued';
      return undecrypted ? { ...state, delayMs: Math.max(state.delayMs, undecryptedMs) } : state;
    } finally {
      this.#attemptScope = undefined;
    }
  }

  /** Reads the state of the job without an attempt. If an operator canceled the workflow, the job fails, unless another run holds it. */
  look(): Promise<JobState> {
    return this.#settle(`${workflowInfo().runId}/0`, isCanceled() ? canceledByOperator : undefined);
  }

  /** Waits on a durable timer. The wait ends early if the job becomes final or an operator cancels the workflow. */
  async wait(state: Unfinished): Promise<'attempt' | 'look'> {
    const heldElsewhere = state.status === 'running';
    const waitMs = heldElsewhere ? heldElsewhereMs : state.delayMs;
    setCurrentDetails(describeWait(state, waitMs));
    if (isCanceled()) {
      // A timer of the canceled scope would end at once, and looking again and again would fill the history.
      if (heldElsewhere) await CancellationScope.nonCancellable(() => sleep(waitMs));
      return 'look';
    }
    try {
      if (waitMs > 0) await condition(() => this.#woken, waitMs);
    } catch (error) {
      if (!isCancellation(error)) throw error;
      return 'look';
    }
    const woken = this.#woken;
    this.#woken = false;
    return woken || heldElsewhere ? 'look' : 'attempt';
  }

  #settle(claimedBy: string, failure: AttemptFailure | undefined): Promise<JobState> {
    const { jobId } = this.#input;
    return CancellationScope.nonCancellable(() => settleAttempt({ jobId, claimedBy, ...(failure ? { failure } : {}) }));
  }
}
