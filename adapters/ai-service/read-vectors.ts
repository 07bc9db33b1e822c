import type { z } from 'zod';
import type { aiService } from '../../contract/ai-service/index.ts';
import { unusableResponse } from './client-error.ts';

const floatBytes = 4;

type Received = z.output<(typeof aiService.embed.responses)[200]>;

/** Vectors of one length, one for each text, in their order. */
export type TextEmbeddings = Omit<Received, 'vectors'> & { vectors: number[][] };
/** Vectors as they are stored, with 32-bit floats. */
export type FloatEmbeddings = Omit<Received, 'vectors'> & { vectors: ArrayLike<number>[] };

/** Reads vectors of numbers. Throws AiServiceError if they are not one of the promised length for each of `texts` texts. */
export function readNumberVectors({ vectors, ...rest }: Received, texts: number): TextEmbeddings {
  const read = vectors.filter((vector) => typeof vector !== 'string').filter(({ length }) => length === rest.dimensions);
  if (read.length !== texts || vectors.length !== texts) throw unusable();
  return { ...rest, vectors: read };
}

/**
 * Reads vectors of 32-bit floats in base64. They share one buffer, because a document has thousands of them. Throws AiServiceError if they
 * are not base64 of `dimensions` finite floats for each of `texts` texts.
 */
export function readFloatVectors({ vectors, ...rest }: Received, texts: number): FloatEmbeddings {
  const { dimensions } = rest;
  const vectorBytes = dimensions * floatBytes;
  const encodedLength = Math.ceil(vectorBytes / 3) * 4;
  const encoded = vectors.filter((vector) => typeof vector === 'string').filter(({ length }) => length === encodedLength);
  if (encoded.length !== texts || vectors.length !== texts) throw unusable();
  const all = new Float32Array(texts * dimensions);
  const bytes = Buffer.from(all.buffer);
  for (const [index, text] of encoded.entries()) {
    if (bytes.write(text, index * vectorBytes, vectorBytes, 'base64') !== vectorBytes) throw unusable();
  }
  if (!areFinite(all)) throw unusable();
  return { ...rest, vectors: encoded.map((_, index) => all.subarray(index * dimensions, (index + 1) * dimensions)) };
}

function unusable() {
  return unusableResponse(200, new Error('The vectors are not those of the texts.'));
}

/** Several times as fast as `every`. */
function areFinite(numbers: Float32Array): boolean {
  for (let index = 0; index < numbers.length; index += 1) {
    if (!Number.isFinite(numbers[index])) return false;
  }
  return true;
}
