/** What a process that recognizes text is asked. */
export interface ImageTask {
  bytes: Uint8Array;
  mediaType: string;
  maxPages: number;
  maxTextCharacters: number;
  /** For all pages, from when a process takes the task. */
  timeoutMs: number;
  /** When whoever asked stops waiting, in milliseconds of `Date.now()`: the task may have waited for a process. */
  endsAt: number;
}

/** When a task must be done that begins now, in milliseconds of `performance.now()`. */
export function deadlineOf({ timeoutMs, endsAt }: Pick<ImageTask, 'timeoutMs' | 'endsAt'>): number {
  return performance.now() + Math.min(timeoutMs, endsAt - Date.now());
}

/** What the engine has read of an image. */
export interface Recognized {
  text: string;
  /** How sure it is, in percent, on average over the words; null if it found none. */
  confidence: number | null;
}

/** In percent. Upright print is read with more confidence, however dirty it is; turned print, and what is no print, with less. */
export const poorConfidence = 70;
