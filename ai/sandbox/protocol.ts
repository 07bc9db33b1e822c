/** A message of the service to a child: one task at a time. */
export interface TaskMessage {
  task: string;
  payload: unknown;
}

/** A message of a child: `ready` once, then one for each task. */
export type ChildMessage =
  | { kind: 'ready'; problem: string | null }
  /** It has the task: if the process is killed from now on, the task may be the reason. */
  | { kind: 'begun' }
  | { kind: 'result'; result: unknown; rssBytes: number }
  /** The document was refused: the fields of a `ServiceError`. */
  | { kind: 'refused'; status: number; code: string; message: string; rssBytes: number }
  /** The task threw something else; the child's state can no longer be trusted. */
  | { kind: 'broken'; detail: string };

/** Why a valid task has no result. */
export type TaskFailureReason =
  /** It exceeded its time and was killed. */
  | 'timeout'
  /** It exceeded its memory and was killed, or its heap was full. */
  | 'memory'
  /** Its process ended by itself, or its code threw. */
  | 'crash'
  /** Its process was killed from outside, and so were those of the retries, before they had the task. */
  | 'killed'
  /** Two processes were killed from outside while they worked at it: it may be the reason, as when the kernel is out of memory. */
  | 'deadly'
  /** No process could be started. */
  | 'unavailable';

/** A task that ended without a result. */
export class TaskFailure extends Error {
  readonly reason: TaskFailureReason;
  /** Whether the process had begun with the task. */
  readonly begun: boolean;
  constructor(reason: TaskFailureReason, detail: string, begun = false) {
    super(detail);
    this.begun = begun;
    this.name = 'TaskFailure';
    this.reason = reason;
  }
}
