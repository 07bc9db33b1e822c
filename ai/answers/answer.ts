/** A unit of a document: a sentence, an item of a list, a row of a table, or a heading. */
export interface Unit {
  text: string;
  /** Headings and other lines that say what it is about. */
  context: string;
  /** Whether it only names what follows, so that it answers nothing by itself. */
  heading: boolean;
}

/** A passage that a search has found, best first, cut into units. */
export interface Passage {
  title: string;
  page: number | null;
  heading: string | null;
  /** Cosine similarity to the question; null if only words were compared. */
  similarity: number | null;
  units: Unit[];
}

/** A question, and the passages that may respond to it. The units of all passages are numbered through, from 1. */
export interface Question {
  question: string;
  /** What was asked before it, if it leans on that. */
  before: string | null;
  passages: Passage[];
  /** The model of the similarities. */
  embedModel: string | null;
  maxSentences: number;
  /** Whether the model is asked for its own words, too. */
  draft: boolean;
}

/** What responds, in the order of the answer: the number of a unit or of two neighbours, and words of them to highlight. */
export interface Pick {
  units: number[];
  mark: string | null;
}

export interface Answer {
  /** Empty if the passages do not respond to the question. */
  answer: Pick[];
  draft: string | null;
  /** No model picked the units. */
  extractive: boolean;
  /** The remote model; null for an extractive answer. */
  model: string | null;
}

/** A unit in another language than the question, by its number. */
export interface ForeignUnit {
  number: number;
  text: string;
}
