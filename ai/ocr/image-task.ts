/** What a process that recognizes text is told. */
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
