/**
 * Vectors in about three bits for each dimension. Scores computed from them are close to the exact ones, so that the best by them hold
 * the best of all. A quantized vector is text, because that is what the driver of Postgres reads fastest: it has no binary results.
 * Two characters hold its scale, each of the others two dimensions.
 */

/** A dimension becomes a whole number from -4 to 4; the pair of two is one of 81 characters. */
const highest = 4;
const numbers = 2 * highest + 1;
/** A larger value than this many times the root mean square becomes the largest number. */
const clipAt = 3;
/** Characters begin here, with `#`: all of them can be printed. */
const firstCharacter = 35;
const characterCodes = 128;

/** The scale is 2 to the power of minus this part of a number of two digits. */
const scaleSteps = 400;
const scaleBase = 90;
const scaleLength = 2;

/** How many characters a quantized vector of so many dimensions has. */
export function quantizedLength(dimensions: number): number {
  return scaleLength + Math.ceil(dimensions / 2);
}

/** Quantizes a vector of unit length. */
export function quantize(vector: Float32Array): string {
  const numbersOf = round(vector, findClip(vector));
  const codes = Buffer.allocUnsafe(quantizedLength(vector.length));
  for (let position = scaleLength, index = 0; position < codes.length; position += 1, index += 2)
    codes[position] = firstCharacter + ((numbersOf[index] ?? 0) + highest) * numbers + (numbersOf[index + 1] ?? 0) + highest;
  const scale = Math.max(Number.MIN_VALUE, findScale(vector, numbersOf));
  const steps = Math.max(0, Math.min(scaleBase * scaleBase - 1, Math.round(-scaleSteps * Math.log2(scale))));
  codes[0] = firstCharacter + Math.floor(steps / scaleBase);
  codes[1] = firstCharacter + (steps % scaleBase);
  return codes.toString('latin1');
}

function round(vector: Float32Array, clip: number): Int8Array {
  const rounded = new Int8Array(vector.length);
  const factor = highest / clip;
  for (let index = 0; index < vector.length; index += 1) {
    const value = (vector[index] as number) * factor;
    rounded[index] = value >= highest ? highest : value <= -highest ? -highest : Math.trunc(value + highest + 0.5) - highest;
  }
  return rounded;
}

/** The scale by which the numbers come nearest to the vector. */
function findScale(vector: Float32Array, rounded: Int8Array): number {
  let [product, squares] = [0, 0];
  for (let index = 0; index < vector.length; index += 1) {
    const number = rounded[index] as number;
    product += (vector[index] as number) * number;
    squares += number * number;
  }
  return squares === 0 ? 1 : product / squares;
}

/** Relative to the dimensions that are not zero, since a short text has few of them. */
function findClip(vector: Float32Array): number {
  let [largest, squares, count] = [0, 0, 0];
  for (let index = 0; index < vector.length; index += 1) {
    const value = Math.abs(vector[index] as number);
    if (value > largest) largest = value;
    squares += value * value;
    if (value > 0) count += 1;
  }
  return count === 0 ? 1 : Math.min(largest, clipAt * Math.sqrt(squares / count));
}

/**
 * Scores the quantized vectors in a range of bytes, in their order, each about as its exact vector's dot product with the query. The scores are
 * those of this range until the next one is scored.
 */
export type Scorer = (codes: Uint8Array, start: number, end: number) => Float64Array;

/**
 * Prepares a query's vector: what each character adds to a score is looked up, not computed. Four sums at once, in numbers of 64 bits, take
 * half the time of one in 32 bits: no step waits for the one before, and nothing is converted.
 */
export function createScorer(query: Float32Array): Scorer {
  const length = quantizedLength(query.length);
  const added = prepareSums(query);
  // Used again for each range: new ones would be collected for as long as it takes to score them.
  let all = new Float64Array(0);
  return (codes, start, end) => {
    const count = Math.floor((end - start) / length);
    if (all.length < count) all = new Float64Array(2 * count);
    const scores = all.subarray(0, count);
    for (let index = 0, at = start; index < count; index += 1, at += length) {
      const steps = ((codes[at] as number) - firstCharacter) * scaleBase + (codes[at + 1] as number) - firstCharacter;
      scores[index] = sumUp(added, codes, at + scaleLength, at + length) * (scales[steps] ?? 0);
    }
    return scores;
  };
}

/** By the two characters of a scale. */
const scales = Float64Array.from({ length: scaleBase * scaleBase }, (_, steps) => 2 ** (-steps / scaleSteps));

/** What each character adds, for each pair of the query's dimensions. */
function prepareSums(query: Float32Array): Float64Array {
  const pairs = Math.ceil(query.length / 2);
  const added = new Float64Array(pairs * characterCodes);
  for (let pair = 0; pair < pairs; pair += 1) {
    const [first, second] = [query[2 * pair] ?? 0, query[2 * pair + 1] ?? 0];
    for (let code = 0; code < numbers * numbers; code += 1) {
      const value = first * (Math.floor(code / numbers) - highest) + second * ((code % numbers) - highest);
      added[pair * characterCodes + firstCharacter + code] = value;
    }
  }
  return added;
}

function sumUp(added: Float64Array, codes: Uint8Array, start: number, end: number): number {
  let one = 0;
  let two = 0;
  let three = 0;
  let four = 0;
  let at = start;
  let offset = 0;
  for (; at + 3 < end; at += 4, offset += 4 * characterCodes) {
    one += added[offset + (codes[at] as number)] as number;
    two += added[offset + characterCodes + (codes[at + 1] as number)] as number;
    three += added[offset + 2 * characterCodes + (codes[at + 2] as number)] as number;
    four += added[offset + 3 * characterCodes + (codes[at + 3] as number)] as number;
  }
  for (; at < end; at += 1, offset += characterCodes) one += added[offset + (codes[at] as number)] as number;
  return one + two + three + four;
}
