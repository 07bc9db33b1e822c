import { ScanPace } from '../scan-pace.ts';
import { highestFrequency, highestNumber, postingLength, writePosting } from './postings.ts';
import { termKeyOf } from './term-keys.ts';
import { eachTerm } from './terms.ts';

/** An entry of an index holds no more. */
const bytesPerRow = 300 * postingLength;
/** Further terms of a chunk are left out. A chunk of the usual size has a few hundred. */
const mostTermsPerChunk = highestNumber;
/** A posting is written in one number: its term's place times this, and its frequency. */
const frequencies = highestFrequency + 1;

/** The postings of a document as they are stored. */
export interface DocumentPostings {
  chunkCount: number;
  /** How many terms the chunks have, with repetitions. */
  termCount: number;
  /** The keys of the terms, in their order. */
  terms: number[];
  /** In the order of the index: by term, and then by number. */
  rows: PostingRow[];
}

/** Postings of one term. A common term has several rows, with numbers from 0. */
interface PostingRow {
  term: number;
  number: number;
  postings: string;
}

/**
 * Collects the postings of a document's chunks, whose texts are given in order. Gives up the thread after each millisecond. Collections
 * with different keys take turns.
 */
export async function collectPostings(texts: string[], key: string): Promise<DocumentPostings> {
  const collector = new PostingsCollector();
  const pace = new ScanPace(key);
  for (const text of texts) {
    if (pace.isOver()) await pace.next();
    collector.add(text);
  }
  if (pace.isOver()) await pace.next();
  return collector.finish();
}

/** In numbers instead of objects, because a long document has hundreds of thousands of postings. */
class PostingsCollector {
  /** Terms have places in the order in which they are found. */
  readonly #places = new Map<string, number>();
  readonly #placesByKey = new Map<number, number>();
  /** The last posting of each term, by the term's place. */
  readonly #last = new GrowingNumbers();
  /** In the order of their chunks, each its term's place and its frequency in one number. */
  readonly #postings = new GrowingNumbers();
  /** Of each chunk its length, and which posting is its first one. */
  readonly #chunks: { length: number; first: number }[] = [];
  #termCount = 0;

  add(text: string): void {
    const first = this.#postings.length;
    let length = 0;
    eachTerm(text, (term) => {
      if (length === mostTermsPerChunk) return;
      length += 1;
      const place = this.#placeOf(term);
      const last = this.#last.at(place);
      if (last < first) this.#last.set(place, this.#postings.push(place * frequencies + 1));
      else if (this.#postings.at(last) % frequencies < highestFrequency) this.#postings.set(last, this.#postings.at(last) + 1);
    });
    this.#chunks.push({ length, first });
    this.#termCount += length;
  }

  finish(): DocumentPostings {
    const terms = [...this.#placesByKey.keys()].sort((one, other) => one - other);
    const { bytes, ends } = this.#write(terms);
    const rows: PostingRow[] = [];
    let start = 0;
    for (const term of terms) {
      const end = ends[this.#placesByKey.get(term) as number] as number;
      for (let number = 0; start < end; number += 1) {
        const rowEnd = Math.min(end, start + bytesPerRow);
        rows.push({ term, number, postings: bytes.toString('latin1', start, rowEnd) });
        start = rowEnd;
      }
    }
    return { chunkCount: this.#chunks.length, termCount: this.#termCount, terms, rows };
  }

  /** Writes all postings, ordered by term and then by chunk. Returns where those of each term end, by the term's place. */
  #write(terms: number[]): { bytes: Buffer; ends: Int32Array } {
    const ends = this.#findStarts(terms);
    const bytes = Buffer.allocUnsafe(postingLength * this.#postings.length);
    for (const [index, { length, first }] of this.#chunks.entries()) {
      const next = this.#chunks[index + 1]?.first ?? this.#postings.length;
      const posting = { index, length, frequency: 0 };
      for (let at = first; at < next; at += 1) {
        const place = Math.floor(this.#postings.at(at) / frequencies);
        posting.frequency = this.#postings.at(at) % frequencies;
        ends[place] = writePosting(bytes, ends[place] as number, posting);
      }
    }
    return { bytes, ends };
  }

  /** Where the postings of each term begin, by the term's place. */
  #findStarts(terms: number[]): Int32Array {
    const counts = new Int32Array(this.#last.length);
    for (let at = 0; at < this.#postings.length; at += 1) (counts[Math.floor(this.#postings.at(at) / frequencies)] as number) += 1;
    const starts = new Int32Array(counts.length);
    let start = 0;
    for (const term of terms) {
      const place = this.#placesByKey.get(term) as number;
      starts[place] = start;
      start += postingLength * (counts[place] as number);
    }
    return starts;
  }

  /** Two terms with the same key are one. */
  #placeOf(term: string): number {
    const known = this.#places.get(term);
    if (known !== undefined) return known;
    const key = termKeyOf(term);
    const place = this.#placesByKey.get(key) ?? this.#last.push(-1);
    this.#placesByKey.set(key, place);
    this.#places.set(term, place);
    return place;
  }
}

/** Whole numbers of 32 bits. */
class GrowingNumbers {
  #numbers = new Int32Array(1_024);
  length = 0;

  at(index: number): number {
    return this.#numbers[index] as number;
  }

  set(index: number, value: number): void {
    this.#numbers[index] = value;
  }

  /** Returns its index. */
  push(value: number): number {
    if (this.length === this.#numbers.length) {
      const larger = new Int32Array(2 * this.length);
      larger.set(this.#numbers);
      this.#numbers = larger;
    }
    this.#numbers[this.length] = value;
    this.length += 1;
    return this.length - 1;
  }
}
