/**
 * Postings: in which chunks of a document a term occurs, how often, and how many terms each of these chunks has. A posting is five printable
 * characters, because the driver of Postgres reads text fastest: two for the chunk's index, one for the frequency, two for the length.
 */

const digits = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz-';
const base = digits.length;
const digitOf = new Uint8Array(128);
for (const [value, digit] of [...digits].entries()) digitOf[digit.charCodeAt(0)] = value;

/** How many characters a posting has. */
export const postingLength = 5;
/** Larger frequencies count as this one; they would score next to the same. */
export const highestFrequency = base - 1;
/** Larger indexes cannot be written, and longer chunks count as of this length. */
export const highestNumber = base * base - 1;

export interface Posting {
  /** Of the chunk in its document. */
  index: number;
  /** How often the term occurs in the chunk. */
  frequency: number;
  /** How many terms the chunk has, with repetitions. */
  length: number;
}

/** Prepares the postings of a chunk, by its index and length. Returns what writes one. Throws RangeError if the index is above {@link highestNumber}. */
export function createPostingWriter({ index, length }: Omit<Posting, 'frequency'>): (frequency: number) => string {
  if (index > highestNumber) throw new RangeError(`a chunk has the index ${index}`);
  const [before, after] = [two(index), two(Math.min(length, highestNumber))];
  const once = `${before}${digits.charAt(1)}${after}`;
  return (frequency) => (frequency === 1 ? once : before + digits.charAt(Math.min(frequency, highestFrequency)) + after);
}

function two(number: number): string {
  return digits.charAt(Math.floor(number / base)) + digits.charAt(number % base);
}

/** The index of the chunk of the posting that begins at a position. */
export function readIndex(bytes: Uint8Array, at: number): number {
  return readTwo(bytes, at);
}

/** The frequency of the posting that begins at a position. */
export function readFrequency(bytes: Uint8Array, at: number): number {
  return digitOf[bytes[at + 2] as number] as number;
}

/** The length of the chunk of the posting that begins at a position. */
export function readLength(bytes: Uint8Array, at: number): number {
  return readTwo(bytes, at + 3);
}

function readTwo(bytes: Uint8Array, at: number): number {
  return (digitOf[bytes[at] as number] as number) * base + (digitOf[bytes[at + 1] as number] as number);
}
