/** What the service sends to a child: one task at a time. */
export interface TaskMessage {
  task: string;
  payload: unknown;
}

/** What a child answers: once that it is warm, then once for each task. */
export type ChildMessage =
  | { kind: 'ready'; problem: string | null }
  | { kind: 'result'; result: unknown; rssBytes: number }
  /** The document was refused: a `ServiceError`, as fields. */
  | { kind: 'refused'; status: number; code: string; message: string; rssBytes: number }
  /** The task threw something else; the child's state is not trusted any more. */
  | { kind: 'broken'; detail: string };

/** The descriptor on which a child hears that its parent is gone, even while its main thread is busy. */
export const lifelineDescriptor = 4;

/** Why a task has no answer although it was valid to ask. */
export type TaskFailureReason =
  /** It ran longer than it may and was killed. */
  | 'timeout'
  /** It used more memory than it may and was killed, or its heap was full. */
  | 'memory'
  /** Its process ended by itself, or its code threw. */
  | 'crash'
  /** Someone else killed its process, and those that tried again. */
  | 'killed'
  /** No process could be started. */
  | 'unavailable';

/** A task that ended without an answer. */
export class TaskFailure extends Error {
  readonly reason: TaskFailureReason;
  constructor(reason: TaskFailureReason, detail: string) {
    super(detail);
    this.name = 'TaskFailure';
    this.reason = reason;
  }
}
