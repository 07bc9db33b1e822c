const headerBytes = 20;
const elementBytes = 8;
const realOid = 700;

/**
 * A `real[]` in Postgres's binary format, for a parameter. Vectors are most of what indexing stores, and as text each number would be
 * formatted here and parsed there.
 */
export function toRealArray(values: ArrayLike<number>): Buffer {
  const bytes = Buffer.allocUnsafe(headerBytes + values.length * elementBytes);
  const [dimensions, hasNulls, lowerBound] = [1, 0, 1];
  for (const [index, field] of [dimensions, hasNulls, realOid, values.length, lowerBound].entries()) bytes.writeInt32BE(field, index * 4);
  let offset = headerBytes;
  for (let index = 0; index < values.length; index += 1, offset += elementBytes) {
    bytes.writeInt32BE(4, offset);
    bytes.writeFloatBE(values[index] ?? 0, offset + 4);
  }
  return bytes;
}
