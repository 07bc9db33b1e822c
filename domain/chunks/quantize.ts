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
