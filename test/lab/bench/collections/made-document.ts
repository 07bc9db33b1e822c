/** A document that was made from a text that is known. */
export interface MadeDocument {
  name: string;
  mediaType: string;
  bytes: Buffer;
  /** What a person would read in it, in that order; running headers once. */
  text: string;
}
