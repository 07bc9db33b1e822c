/**
 * Postings: in which chunks of a document a term occurs, how often, and how many terms each of these chunks has. A posting is five printable
 * characters, because the driver of Postgres reads text fastest: two for the chunk's index, one for the frequency, two for the length.
 */

const digits = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz-';
const base = digits.length;
const digitCodes = Uint8Array.from(digits, (digit) => digit.charCodeAt(0));
const digitOf = new Uint8Array(128);
for (const [value, code] of digitCodes.entries()) digitOf[code] = value;

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

/** Writes a posting from a position on, and returns where it ends. Throws RangeError if the index is above {@link highestNumber}. */
export function writePosting(bytes: Uint8Array, at: number, { index, frequency, length }: Posting): number {
  if (index > highestNumber) throw new RangeError(`a chunk has the index ${index}`);
  writeTwo(bytes, at, index);
  bytes[at + 2] = digitCodes[Math.min(frequency, highestFrequency)] as number;
  writeTwo(bytes, at + 3, Math.min(length, highestNumber));
  return at + postingLength;
}

function writeTwo(bytes: Uint8Array, at: number, number: number): void {
  bytes[at] = digitCodes[Math.floor(number / base)] as number;
  bytes[at + 1] = digitCodes[number % base] as number;
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
