import type { TextPiece } from './split-text.ts';

/** A chunk as it was cut, and how search reads it. */
export interface Cut extends TextPiece {
  /** What the chunk needs to be understood, from elsewhere in the document: titles of headings, names of columns. Empty if there is nothing. */
  context: string;
  /** Its text without markup, as prose. */
  plain: string;
}
