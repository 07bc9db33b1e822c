import type { NoticeCode } from '../extract/notice.ts';

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

/** The result for a page. */
export interface Recognized {
  text: string;
  /** How sure it is, in percent, on average over the words, less the share of print that was not read; null if it found none. */
  confidence: number | null;
  /** What to say of the page. */
  notices: NoticeCode[];
}

/** In percent. Upright print has more confidence, however dirty it is; anything that is not print has less. */
export const poorConfidence = 70;

/** The engine of a process, which is its argument. */
export type EngineChoice =
  | { kind: 'native'; command: string[]; languages: string[] }
  | { kind: 'wasm'; directory: string; languages: string[] };
