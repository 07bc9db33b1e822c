/** A part of a document's own text, in its order. */
export interface FieldPassage {
  id: string;
  page: number | null;
  heading: string | null;
  text: string;
}

/** A document, and the JSON Schema of what is wanted of it. */
export interface FieldRequest {
  schema: Record<string, unknown>;
  title: string;
  passages: FieldPassage[];
}

/** A value, with what it rests on. Nobody has looked the quote up yet: that is `domain/fields/`. */
export interface SaidField {
  /** A JSON Pointer. Items of arrays are numbered in each part of the document anew. */
  path: string;
  value: string | number | boolean;
  passage: string;
  quote: string;
}

export interface SaidFields {
  model: string;
  /** What the model has read out of each part of the document that it was given. */
  parts: SaidField[][];
  /** How many of its values were in another form than it was asked for. */
  unreadable: number;
}
