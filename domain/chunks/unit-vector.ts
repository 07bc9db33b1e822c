/** Scales a vector to length 1, in what a `real` of Postgres holds, so that a dot product is a cosine similarity; zeros stay as they are. */
export function toUnitLength(vector: ArrayLike<number>): Float32Array {
  const length = lengthOf(vector) || 1;
  const scaled = new Float32Array(vector.length);
  for (let index = 0; index < vector.length; index += 1) scaled[index] = (vector[index] ?? 0) / length;
  return scaled;
}

function lengthOf(vector: ArrayLike<number>): number {
  let squares = 0;
  for (let index = 0; index < vector.length; index += 1) squares += (vector[index] as number) * (vector[index] as number);
  return squares > leastSquares && squares < Number.POSITIVE_INFINITY ? Math.sqrt(squares) : lengthOfExtremes(vector);
}

/** The square of a smaller number may be less than a number holds. */
const leastSquares = 1e-200;

/** Relative to the largest number, whose square may be more than a number holds. */
function lengthOfExtremes(vector: ArrayLike<number>): number {
  let largest = 0;
  for (let index = 0; index < vector.length; index += 1) largest = Math.max(largest, Math.abs(vector[index] ?? 0));
  if (largest === 0) return 0;
  let squares = 0;
  for (let index = 0; index < vector.length; index += 1) squares += ((vector[index] ?? 0) / largest) ** 2;
  return largest * Math.sqrt(squares);
}

/** The cosine similarity of two vectors of unit length and the same number of dimensions. */
export function dotProduct(one: Float32Array, other: Float32Array): number {
  let sum = 0;
  for (let index = 0; index < one.length; index += 1) sum += (one[index] ?? 0) * (other[index] ?? 0);
  return sum;
}
