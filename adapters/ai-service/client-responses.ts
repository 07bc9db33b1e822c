import { z } from 'zod';

const floatBytes = 4;

// Postgres stores neither NUL nor lone surrogates.
const storable = z.string().refine((value) => value.isWellFormed() && !value.includes('\u0000'), 'is not well-formed text');
const count = z.int().min(0);
const outline = z.object({
  page_starts: z.array(count).nullable(),
  pages_end: count.optional(),
  headings: z.array(z.object({ level: z.int().min(1), start: count, title: storable })),
});
const text = z.object({
  text: storable,
  characters: count,
  pages: count.nullable(),
  truncated: z.boolean(),
  content_type: z.string(),
  outline,
  ocr_pages: count.optional(),
  ocr_confidence: z.array(z.int().min(0).max(100).nullable()).optional(),
  notices: z.array(z.object({ code: storable, text: storable })).optional(),
});
export const extraction = text.transform(({ content_type, ocr_pages, ocr_confidence, ...rest }) => ({
  ...rest,
  contentType: content_type,
  ...(ocr_pages ? { ocrPages: ocr_pages } : {}),
  ...(ocr_confidence ? { ocrConfidence: ocr_confidence } : {}),
}));
export const summary = z.object({ summary: storable, sentences: count, model: storable, characters: count });
export const answer = z.object({
  answer: z.array(z.object({ units: z.array(z.int()), mark: storable.nullable() })),
  draft: storable.nullable(),
  extractive: z.boolean(),
  model: storable.nullable(),
});
export const saidFields = z.object({
  model: storable.min(1),
  parts: z.array(
    z.array(z.object({ path: storable, value: z.union([storable, z.number(), z.boolean()]), passage: z.string(), quote: storable })),
  ),
  unreadable: count,
});
export const ranking = z.object({ model: storable, results: z.array(z.object({ index: count, relevance_score: z.number() })) });
// A response has tens of thousands of numbers: a schema for each would cost more than parsing them.
const vector = z.custom<number[]>((value) => Array.isArray(value) && value.every(Number.isFinite), 'is not a vector');
export const embeddings = z
  .object({ model: storable.min(1), dimensions: z.int().positive(), vectors: z.array(vector) })
  .refine(({ dimensions, vectors }) => vectors.every((vector) => vector.length === dimensions), 'a vector has another length');
export const floatEmbeddings = z
  .object({ model: storable.min(1), dimensions: z.int().positive(), vectors: z.array(z.string()) })
  .transform(({ vectors, ...rest }, context): FloatEmbeddings => {
    const read = readFloatVectors(vectors, rest.dimensions);
    if (!read) context.addIssue('a vector is not made of as many floats');
    return { ...rest, vectors: read ?? [] };
  });
const embeddingModel = z
  .object({
    model: storable,
    dimensions: z.int().positive().nullable(),
    chunk_characters: z.int().positive(),
    texts_per_call: z.int().positive(),
  })
  .transform(({ chunk_characters, texts_per_call, ...rest }) => ({
    ...rest,
    chunkCharacters: chunk_characters,
    textsPerCall: texts_per_call,
  }));
export const health = z.object({
  ok: z.boolean(),
  provider: z.string(),
  // Absent from a service of the version before.
  chat: z.string().optional(),
  ocr: z.string(),
  auth: z.string(),
  problems: z.array(z.string()),
  embeddings: z.tuple([embeddingModel], embeddingModel),
});
export const refusal = z.object({ error: z.object({ code: z.string(), message: z.string() }) });

export type Extraction = z.output<typeof extraction>;
export type TextSummary = z.output<typeof summary>;
export type TextAnswer = z.output<typeof answer>;
export type SaidFields = z.output<typeof saidFields>;
export type TextEmbeddings = z.output<typeof embeddings>;
/** Vectors as they are stored, with 32-bit floats. */
export type FloatEmbeddings = Omit<TextEmbeddings, 'vectors'> & { vectors: ArrayLike<number>[] };
export type AiHealth = z.output<typeof health>;

/**
 * Reads vectors of 32-bit floats in base64. They share one buffer, because a document has thousands of them. Returns undefined if one of
 * them is not base64 of `dimensions` finite floats.
 */
function readFloatVectors(encoded: string[], dimensions: number): Float32Array[] | undefined {
  const vectorBytes = dimensions * floatBytes;
  const encodedLength = Math.ceil(vectorBytes / 3) * 4;
  if (encoded.some((text) => text.length !== encodedLength)) return undefined;
  const all = new Float32Array(encoded.length * dimensions);
  const bytes = Buffer.from(all.buffer);
  for (const [index, text] of encoded.entries()) {
    if (bytes.write(text, index * vectorBytes, vectorBytes, 'base64') !== vectorBytes) return undefined;
  }
  if (!areFinite(all)) return undefined;
  return encoded.map((_, index) => all.subarray(index * dimensions, (index + 1) * dimensions));
}

/** Several times as fast as `every`. */
function areFinite(numbers: Float32Array): boolean {
  for (let index = 0; index < numbers.length; index += 1) {
    if (!Number.isFinite(numbers[index])) return false;
  }
  return true;
}
