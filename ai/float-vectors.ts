const floatBytes = 4;

/**
 * Reads vectors of 32-bit floats in base64. They share one piece of memory: a document has thousands of them. Undefined where one of
 * them is not base64 of that many floats, or not of finite ones.
 */
export function readFloatVectors(encoded: string[], dimensions: number): Float32Array[] | undefined {
  const vectorBytes = dimensions * floatBytes;
  const encodedLength = Math.ceil(vectorBytes / 3) * 4;
  if (encoded.some((text) => text.length !== encodedLength)) return undefined;
  const all = new Float32Array(encoded.length * dimensions);
  const bytes = Buffer.from(all.buffer);
  for (const [index, text] of encoded.entries()) {
    if (bytes.write(text, index * vectorBytes, vectorBytes, 'base64') !== vectorBytes) return undefined;
  }
  if (!all.every(Number.isFinite)) return undefined;
  return encoded.map((_, index) => all.subarray(index * dimensions, (index + 1) * dimensions));
}
