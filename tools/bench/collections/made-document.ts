/** A document that was made from a text that is known. */
export interface MadeDocument {
  name: string;
  mediaType: string;
  bytes: Buffer;
  /** What a person would read in it, in that order; running headers once. */
  text: string;
  /** Titles with their levels, the outermost first; absent if they are not compared. */
  headings?: { level: number; title: string }[];
  /** The cells of its tables by rows; absent if they are not compared. No two rows begin alike. */
  cells?: string[][];
}
