/** How an image is made that stands in for a published one. */
export interface Recipe {
  /** What it is made of, in words. It becomes a label of the image: another text makes the image anew. */
  madeOf: string;
  make(name: string): Promise<void>;
}

/** The label by which an image says that it is a stand-in. */
export const standInLabel = 'sheaf.stand-in';
