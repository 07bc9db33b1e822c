const headerBytes = 20;
const elementBytes = 8;
const realOid = 700;

/**
 * A `real[]` in Postgres's binary format, for a parameter. Vectors are most of the data that indexing stores, and as text each number would
 * have to be formatted and parsed.
 */
export function toRealArray(values: ArrayLike<number>): Buffer {
  const bytes = Buffer.allocUnsafe(headerBytes + values.length * elementBytes);
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const [dimensions, hasNulls, lowerBound] = [1, 0, 1];
  for (const [index, field] of [dimensions, hasNulls, realOid, values.length, lowerBound].entries()) view.setInt32(index * 4, field);
  let offset = headerBytes;
  for (let index = 0; index < values.length; index += 1, offset += elementBytes) {
    view.setInt32(offset, 4);
    view.setFloat32(offset + 4, values[index] ?? 0);
  }
  return bytes;
}

/** Reads the result of `array_send` for a `real[]` of one dimension without nulls. */
export function readRealArray(bytes: Uint8Array): Float32Array {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const values = new Float32Array(Math.max(0, Math.floor((bytes.byteLength - headerBytes) / elementBytes)));
  for (let index = 0; index < values.length; index += 1) values[index] = view.getFloat32(headerBytes + index * elementBytes + 4);
  return values;
}
