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
  const clip = findClip(vector);
  const codes = new Uint8Array(quantizedLength(vector.length));
  let [product, squares] = [0, 0];
  const roundAt = (index: number) => {
    const value = vector[index] ?? 0;
    const number = Math.max(-highest, Math.min(highest, Math.round((value / clip) * highest)));
    product += value * number;
    squares += number * number;
    return number + highest;
  };
  for (let position = scaleLength; position < codes.length; position += 1) {
    const index = 2 * (position - scaleLength);
    codes[position] = firstCharacter + roundAt(index) * numbers + roundAt(index + 1);
  }
  // The scale by which the numbers come nearest to the vector.
  const scale = squares === 0 ? 1 : product / squares;
  const steps = Math.max(0, Math.min(scaleBase * scaleBase - 1, Math.round(-scaleSteps * Math.log2(scale))));
  codes[0] = firstCharacter + Math.floor(steps / scaleBase);
  codes[1] = firstCharacter + (steps % scaleBase);
  return Buffer.from(codes.buffer).toString('latin1');
}

/** Relative to the dimensions that are not zero, since a short text has few of them. */
function findClip(vector: Float32Array): number {
  let [largest, squares, count] = [0, 0, 0];
  for (let index = 0; index < vector.length; index += 1) {
    const value = Math.abs(vector[index] ?? 0);
    if (value === 0) continue;
    if (value > largest) largest = value;
    squares += value * value;
    count += 1;
  }
  return count === 0 ? 1 : Math.min(largest, clipAt * Math.sqrt(squares / count));
}

/** Scores the quantized vector that begins at a position of a text, about as its exact vector's dot product with the query. */
export type Scorer = (vectors: string, start: number) => number;

/** Prepares a query's vector: what each character adds to a score is looked up, not computed. */
export function createScorer(query: Float32Array): Scorer {
  const pairs = Math.ceil(query.length / 2);
  const added = new Float32Array(pairs * characterCodes);
  for (let pair = 0; pair < pairs; pair += 1) {
    const [first, second] = [query[2 * pair] ?? 0, query[2 * pair + 1] ?? 0];
    for (let code = 0; code < numbers * numbers; code += 1) {
      const value = first * (Math.floor(code / numbers) - highest) + second * ((code % numbers) - highest);
      added[pair * characterCodes + firstCharacter + code] = value;
    }
  }
  const scales = Float32Array.from({ length: scaleBase * scaleBase }, (_, steps) => 2 ** (-steps / scaleSteps));
  return (vectors, start) => {
    const steps = (vectors.charCodeAt(start) - firstCharacter) * scaleBase + vectors.charCodeAt(start + 1) - firstCharacter;
    let [sum, position] = [0, start + scaleLength];
    for (let offset = 0; offset < added.length; offset += characterCodes, position += 1)
      sum += added[offset + vectors.charCodeAt(position)] ?? 0;
    return sum * (scales[steps] ?? 0);
  };
}
