/** What the console sends to the frame: the file first, then the page to show. */
export type ToFrame = { file: ArrayBuffer } | { page: number; label: string };

/** What the frame sends back: how many pages the file has, or that it cannot be shown. */
export type FromFrame = { pages: number } | { failed: true };
