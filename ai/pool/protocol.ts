/** What the service sends to a child: one task at a time. */
export interface TaskMessage {
  task: string;
  payload: unknown;
}

/** What a child sends: `ready` once, then one message for each task. */
export type ChildMessage =
  | { kind: 'ready'; problem: string | null }
  | { kind: 'result'; result: unknown; rssBytes: number }
  /** The document was refused: the fields of a `ServiceError`. */
  | { kind: 'refused'; status: number; code: string; message: string; rssBytes: number }
  /** The task threw something else; the child's state can no longer be trusted. */
  | { kind: 'broken'; detail: string };

/** The descriptor of a pipe that closes when the parent ends, which a child notices even while its main thread is busy. */
export const lifelineDescriptor = 4;

/** Why a valid task has no result. */
export type TaskFailureReason =
  /** It exceeded its time and was killed. */
  | 'timeout'
  /** It exceeded its memory and was killed, or its heap was full. */
  | 'memory'
  /** Its process ended by itself, or its code threw. */
  | 'crash'
  /** Its process was killed from outside, and so were those of the retries. */
  | 'killed'
  /** No process could be started. */
  | 'unavailable';

/** A task that ended without a result. */
export class TaskFailure extends Error {
  readonly reason: TaskFailureReason;
  constructor(reason: TaskFailureReason, detail: string) {
    super(detail);
    this.name = 'TaskFailure';
    this.reason = reason;
  }
}
