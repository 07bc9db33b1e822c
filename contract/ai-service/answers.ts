import { z } from 'zod';
import { atMost, count, maxNameLength, maxPassages, maxQuestionLength, maxTextLength, question, storable } from './values.ts';

const maxUnits = 20_000;

const unit = z.object({
  text: atMost(maxTextLength),
  context: atMost(maxTextLength).describe('Headings and other lines that say what it is about.'),
  heading: z.boolean().describe('Whether it only names what follows.'),
});

export const answerRequest = z.object({
  question,
  before: atMost(maxQuestionLength).nullable().default(null).describe('What was asked before, if the question leans on it.'),
  passages: z
    .array(
      z.object({
        title: atMost(maxNameLength),
        page: z.int().nullable(),
        heading: atMost(maxNameLength).nullable(),
        similarity: z.number().nullable().default(null).describe('Cosine similarity to the question; null if only words were compared.'),
        units: z.array(unit),
      }),
    )
    .max(maxPassages)
    .refine((passages) => passages.flatMap(({ units }) => units).length <= maxUnits, `must have at most ${maxUnits} units`)
    .describe(
      'What a search has found, best first, cut into sentences, items of lists and rows of tables. All units are numbered through, from 1.',
    ),
  embed_model: z.string().nullable().default(null).describe('The model of the similarities.'),
  max_sentences: z.int().min(1).max(20).default(5),
  draft: z.boolean().default(false).describe('Whether a remote model is asked for its own words, too.'),
});

export const answer = z.object({
  answer: z
    .array(z.object({ units: z.array(z.int()), mark: storable.nullable().describe('Words of the unit that respond.') }))
    .describe('The number of a unit, or of two neighbours, in the order of the answer. Empty if nothing responds.'),
  draft: storable.nullable().describe("The model's own words, if they were asked for."),
  extractive: z.boolean().describe('Whether no model picked the units.'),
  model: storable.nullable().describe('The remote model; null if none picked.'),
});

export const rewriteRequest = z.object({
  question,
  earlier: z.array(atMost(maxQuestionLength)).min(1).max(20).describe('The questions before it, the oldest first.'),
});

export const rewritten = z.object({ question: storable.min(1).nullable().describe('On one line; null without a remote model.') });

export const fieldsRequest = z.object({
  schema: z.record(z.string(), z.unknown()).describe('The JSON Schema of what is wanted.'),
  title: atMost(maxNameLength),
  passages: z
    .array(
      z.object({
        id: z.string().min(1).max(200),
        page: z.int().nullable(),
        heading: atMost(maxNameLength).nullable(),
        text: atMost(maxTextLength),
      }),
    )
    .min(1)
    .describe('The text of the document, in its order: together at most MAX_TEXT_CHARACTERS.'),
});

export const saidFields = z.object({
  model: storable.min(1),
  parts: z
    .array(z.array(z.object({ path: storable, value: z.union([storable, z.number(), z.boolean()]), passage: z.string(), quote: storable })))
    .describe('What was read out of each part of the document; items of arrays are numbered in each part anew.'),
  unreadable: count.describe('How many values were in another form than the model was asked for.'),
});
