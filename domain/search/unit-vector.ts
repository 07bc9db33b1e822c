/**
 * Scales a vector to length 1 in 32-bit floats, as `real` of Postgres, so that a dot product is a cosine similarity. A zero vector stays as
 * it is.
 */
export function toUnitLength(vector: ArrayLike<number>): Float32Array {
  // Divides by the largest number first, whose square may be too large for a float.
  let largest = 0;
  for (let index = 0; index < vector.length; index += 1) largest = Math.max(largest, Math.abs(vector[index] ?? 0));
  const scaled = new Float32Array(vector.length);
  if (largest === 0) return scaled;
  let squares = 0;
  for (let index = 0; index < vector.length; index += 1) squares += ((vector[index] ?? 0) / largest) ** 2;
  const length = Math.sqrt(squares);
  for (let index = 0; index < vector.length; index += 1) scaled[index] = (vector[index] ?? 0) / largest / length;
  return scaled;
}

/** The dot product of two vectors of the same number of dimensions: their cosine similarity, if both have unit length. */
export function dotProduct(one: Float32Array, other: Float32Array | Int8Array): number {
  let sum = 0;
  for (let index = 0; index < one.length; index += 1) sum += (one[index] ?? 0) * (other[index] ?? 0);
  return sum;
}
