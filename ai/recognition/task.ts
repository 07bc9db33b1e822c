import type { RecognizedLine } from '../formats/locate-lines.ts';
import type { NoticeCode } from '../formats/notice.ts';

/** A task for a process that recognizes text. */
export interface ImageTask {
  bytes: Uint8Array;
  mediaType: string;
  maxPages: number;
  maxTextCharacters: number;
}

/** The result for a page. */
export interface Recognized {
  text: string;
  /** How sure it is, in percent, on average over the characters; null if it found none. */
  confidence: number | null;
  /** What to say of the page. */
  notices: NoticeCode[];
  /** Its lines, from top to bottom. */
  lines: RecognizedLine[];
}

/** In percent. Print has more confidence, however dirty it is. */
export const poorConfidence = 70;

/** Tesseract of the system, or the one in WebAssembly. */
export type EngineChoice =
  | { kind: 'native'; command: string[]; languages: string[] }
  | { kind: 'wasm'; directory: string; languages: string[] };

/** What a process recognizes text with, which is its argument: the directory of the models, and Tesseract. */
export interface Recognizers {
  models: string;
  tesseract: EngineChoice;
}
