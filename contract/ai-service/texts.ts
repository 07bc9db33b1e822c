import { z } from 'zod';
import { atMost, count, maxPassages, maxTextLength, question, storable } from './values.ts';

export const maxTexts = 64;

export const summaryRequest = z.object({ text: z.string().min(1), max_sentences: z.int().min(1).max(50).default(5) });

export const summary = z.object({
  summary: storable,
  sentences: count.describe('How many sentences the summary has.'),
  model: storable,
  characters: count.describe('Length of the text that was summarized.'),
});

export const embedRequest = z.object({
  texts: z.array(z.string()).min(1).max(maxTexts).describe(`Each of at most ${maxTextLength} characters.`),
  encoding_format: z
    .enum(['float', 'base64'])
    .default('float')
    .describe('How a vector is returned: as numbers, or as the base64 of 32-bit floats, low byte first.'),
  model: z
    .string()
    .optional()
    .describe('A model of `embeddings` at /health. Another name is ignored: the `model` of the response says which model it was.'),
  dimensions: z.int().min(1).max(16_000).optional().describe('How many numbers the vectors had that the named model made before.'),
});

// A response has tens of thousands of numbers: a schema for each would cost more than parsing them.
const numbers: z.ZodType<number[], number[]> = z
  .any()
  .refine((value) => Array.isArray(value) && value.every(Number.isFinite), 'is not a vector')
  .meta({ type: 'array', items: { type: 'number' } });

export const embeddings = z.object({
  model: storable.min(1),
  dimensions: z.int().positive(),
  vectors: z.union([z.array(numbers), z.array(z.string().meta({ contentEncoding: 'base64' }))]),
});

export const rankRequest = z.object({ query: question, documents: z.array(atMost(maxTextLength)).min(1).max(maxPassages) });

export const ranking = z.object({
  model: storable,
  results: z.array(z.object({ index: count, relevance_score: z.number() })).describe('All of them, the best first.'),
});
