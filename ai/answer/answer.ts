/** A passage that a search has found, best first: a part of a document's own text, with where it stands. */
export interface Passage {
  id: string;
  title: string;
  page: number | null;
  heading: string | null;
  text: string;
}

/** A question, and the passages that may respond to it. */
export interface Question {
  question: string;
  passages: Passage[];
  maxSentences: number;
}

/** One sentence of an answer, with what it rests on. Nobody has looked the quotes up yet: that is `domain/answers/`. */
export interface AnswerSentence {
  text: string;
  citations: { passage: string; quote: string }[];
}

/** No sentences: the passages do not respond to the question. */
export interface Answer {
  sentences: AnswerSentence[];
  /** The sentences are the documents' own. */
  extractive: boolean;
  /** The remote model; null for an extractive answer. */
  model: string | null;
}
