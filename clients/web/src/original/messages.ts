/** A part of a page, as shares of its width and height. */
export interface Box {
  left: number;
  top: number;
  width: number;
  height: number;
}

/** A passage to mark: its text, and that of the page before it, which says where it stands if the page has it several times. */
export interface Passage {
  quote: string;
  before: string;
  /** Where its lines stand if they were recognized: the file has no text then. */
  boxes: Box[];
}

/** What the console sends to the frame: the file first, then the page to show. */
export type ToFrame = { file: ArrayBuffer } | { page: number; label: string; passage: Passage | undefined };

/** What the frame sends back: how many pages the file has, or that it cannot be shown. */
export type FromFrame = { pages: number } | { failed: true };
