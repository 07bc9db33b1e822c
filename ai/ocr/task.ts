/** A task for a process that recognizes text. */
export interface ImageTask {
  bytes: Uint8Array;
  mediaType: string;
  maxPages: number;
  maxTextCharacters: number;
  /** For all pages, from when a process takes the task. */
  timeoutMs: number;
  /** The time at which the caller stops waiting, as `Date.now()`: the task may have waited for a process. */
  endsAt: number;
}

/** When a task must be done that begins now, in milliseconds of `performance.now()`. */
export function deadlineOf({ timeoutMs, endsAt }: Pick<ImageTask, 'timeoutMs' | 'endsAt'>): number {
  return performance.now() + Math.min(timeoutMs, endsAt - Date.now());
}

/** The engine's result for an image. */
export interface Recognized {
  text: string;
  /** How sure it is, in percent, on average over the words; null if it found none. */
  confidence: number | null;
}

/** In percent. Upright print has more confidence, however dirty it is; rotated print and anything that is not print have less. */
export const poorConfidence = 70;
