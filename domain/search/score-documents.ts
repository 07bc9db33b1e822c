import { firstLetter, postingLength } from './postings.ts';

/** The weights of a term's repetitions and of a chunk's length: the usual values of BM25. */
const [k1, b] = [1.2, 0.75];

/** The numbers that BM25 needs of a term, besides its postings. */
export interface TermCounts {
  /** The number of chunks of the workspace that contain the term. */
  frequency: number;
  /** The number of chunks of the workspace, and their number of terms, with repetitions. */
  chunks: number;
  terms: number;
}

/** A term with its postings: for each document, in ascending order, its number in digits, then the letters of its postings. */
export type ReadTerm = TermCounts & { letters: string; weight: number };

/**
 * Called for each document that has a term, with the indexes of its matching chunks, in no particular order, and the score of each chunk by
 * its index.
 */
type Visit = (number: number, indexes: readonly number[], scores: readonly number[]) => void;

/** Adds up the BM25 scores of chunks for these terms, a document at a time. The arrays that `visit` gets are valid until it returns. */
export function scoreDocuments(terms: ReadTerm[], visit: Visit): void {
  const cursors = terms.map((term) => new PostingCursor(term));
  const indexes: number[] = [];
  const scores: number[] = [];
  for (;;) {
    const number = cursors.reduce((least, cursor) => Math.min(least, cursor.number), Number.POSITIVE_INFINITY);
    if (number === Number.POSITIVE_INFINITY) return;
    for (const cursor of cursors) if (cursor.number === number) cursor.addDocument(indexes, scores);
    visit(number, indexes, scores);
    for (const index of indexes) scores[index] = 0;
    indexes.length = 0;
  }
}

/** Goes through the postings of a term, a document at a time. */
class PostingCursor {
  readonly #letters: string;
  /**
   * The factors of BM25 that do not depend on the chunk: the weight, and how a chunk's length counts, absolutely and relative to the
   * average.
   */
  readonly #weight: number;
  readonly #perTerm: number;
  #at = 0;
  /** The number of the next document; infinite at the end. */
  number = 0;

  constructor({ letters, weight, frequency, chunks, terms }: ReadTerm) {
    this.#letters = letters;
    this.#weight = weight * Math.log(1 + (chunks - frequency + 0.5) / (frequency + 0.5)) * (k1 + 1);
    this.#perTerm = (k1 * b * chunks) / terms;
    this.#readNumber();
  }

  /** Adds what the term contributes to the chunks of the document, and goes on to the next one. */
  addDocument(indexes: number[], scores: number[]): void {
    const letters = this.#letters;
    let at = this.#at;
    for (; at < letters.length && letters.charCodeAt(at) >= firstLetter; at += postingLength) {
      const index = letters.charCodeAt(at) - firstLetter;
      const frequency = letters.charCodeAt(at + 1) - firstLetter;
      const length = letters.charCodeAt(at + 2) - firstLetter;
      const before = scores[index] ?? 0;
      if (before === 0) indexes.push(index);
      scores[index] = before + (this.#weight * frequency) / (frequency + k1 * (1 - b) + this.#perTerm * length);
    }
    this.#at = at;
    this.#readNumber();
  }

  #readNumber(): void {
    if (this.#at >= this.#letters.length) {
      this.number = Number.POSITIVE_INFINITY;
      return;
    }
    let number = 0;
    for (let code = this.#letters.charCodeAt(this.#at); code < firstLetter; code = this.#letters.charCodeAt(this.#at)) {
      number = 10 * number + code - 0x30;
      this.#at += 1;
    }
    this.number = number;
  }
}
