import { z } from 'zod';
import { searchFilter, searchMode } from './document-search.ts';
import { count, givenId, id, pageNumber, position, singleLine, withExample } from './fields.ts';
import { c, operation } from './route.ts';

const exampleSentence = 'Mirrors are washed with deionised water on the first Monday of each month.';

const line = z.string().nullable();

const unitCell = z
  .object({
    head: z.string().meta({ examples: ['Model'] }),
    text: z.string().meta({ examples: ['K1'] }),
  })
  .meta({ id: 'AnswerCell' });

const answerDraft = z
  .object({
    text: z.string().meta({ examples: ['The mirrors are washed once a month.'] }),
    checked: z.literal(false).meta({ examples: [false] }),
  })
  .meta({ id: 'AnswerDraft', description: 'What a model said in its own words, which nothing has checked.' });

const unitContext = z
  .object({
    before: line.describe('The sentence before it.').meta({ examples: ['The telescope has two mirrors.'] }),
    after: line.describe('The sentence after it.').meta({ examples: [null] }),
    lead: line.describe('The line before the list or table that it is in.').meta({ examples: [null] }),
    parents: z
      .array(z.string())
      .describe('The items of a list that it is under, or the keys of JSON that lead to it, the outermost first.')
      .meta({ examples: [[]] }),
    cells: z
      .array(unitCell)
      .describe('The cells of a row, each with the head of its column; empty if the column has none. No cells of a row of more than 1,000.')
      .meta({ examples: [[]] }),
  })
  .meta({ id: 'AnswerContext', description: 'What stands around a sentence, in the words of its document.' });

const answerCitation = z
  .object({
    documentId: id,
    documentName: z.string().meta({ examples: ['handbook.pdf'] }),
    page: pageNumber.nullable().describe('The page that the quote begins on; null for kinds that have no pages.'),
    headings: z
      .array(z.string())
      .describe('The headings that the quote is under, the outermost first.')
      .meta({ examples: [['Care of the telescope', 'Mirrors']] }),
    start: position.describe('Where the quote begins in the text of the document (`documents.text`).'),
    end: position.describe('Where it ends: the position after its last character.').meta({ examples: [1274] }),
    quote: withExample(z.string().describe('The words of the document, as they stand there.'), exampleSentence),
    exact: withExample(z.boolean().describe('Always true: the quote stands there letter for letter.'), true),
    recognized: withExample(z.boolean().describe('Whether text recognition has read the page, so that letters may be wrong.'), false),
    context: unitContext.optional(),
    version: z
      .int()
      .min(1)
      .optional()
      .describe('The version of the document that is quoted; absent in answers that are older than versions.')
      .meta({ examples: [1] }),
  })
  .meta({ id: 'AnswerCitation', description: 'Where a sentence stands in its document. Positions count Unicode code points, from 0.' });

const answerSentence = z
  .object({
    text: z
      .string()
      .describe(
        'A sentence, an item of a list or a row of a table, or two neighbours, whole and letter for letter: the quote of its citation.',
      )
      .meta({ examples: [exampleSentence] }),
    mark: z
      .string()
      .nullish()
      .describe('The words of `text` that respond, to highlight. Null if no model has named any.')
      .meta({ examples: ['first Monday of each month'] }),
    citations: z.array(answerCitation).min(1).describe('The place of the text; of several documents that say the same, that of each.'),
  })
  .meta({ id: 'AnswerSentence' });

/** What an answer has besides its sentences. */
const answerFields = {
  id,
  withheld: count.describe('How many sentences are no longer shown, because their documents were deleted.').meta({ examples: [0] }),
  nothingFound: z
    .boolean()
    .describe('Whether nothing in the documents responds to the question. There are no sentences then.')
    .meta({ examples: [false] }),
  extractive: withExample(z.boolean().describe('Whether no model has picked the sentences.'), true),
  model: withExample(z.string().nullable().describe('The model that picked the sentences; null if none did.'), null),
  credits: count.describe('What the answer was charged.').meta({ examples: [3] }),
  draft: answerDraft
    .nullish()
    .describe('Null if it was not asked for, the deployment does not allow it, or there are no sentences.')
    .meta({ examples: [null] }),
};

/** What the stream of an answer sends: each sentence, then the end. */
const answerEvent = z
  .discriminatedUnion('type', [
    answerSentence.extend({ type: z.literal('sentence') }).meta({ id: 'AnswerSentenceEvent' }),
    z.object({ ...answerFields, type: z.literal('end') }).meta({ id: 'AnswerEndEvent' }),
  ])
  .meta({ id: 'AnswerEvent' });

const answer = z
  .object({ ...answerFields, sentences: z.array(answerSentence).describe('In the order in which they are to be read.') })
  .meta({ id: 'Answer' });

/** What a question is about, and in which documents it looks. */
const question = z
  .object({
    question: singleLine({ min: 1, max: 1000 }).meta({ examples: ['How often is the mirror cleaned?'] }),
    limit: z.int().min(1).max(50).default(10).describe('How many passages are read at the most.'),
    mode: searchMode.optional().describe('What is compared to find them. By default `semantic`, unless the deployment sets another.'),
    filter: searchFilter.optional(),
    maxSentences: z.int().min(1).max(20).default(5).describe('How long the answer may get.'),
    before: singleLine({ min: 1, max: 1000 })
      .nullish()
      .describe('What was asked before, if the question leans on it: its words count as those of the question.')
      .meta({ examples: [null] }),
    conversation: z
      .array(singleLine({ min: 1, max: 1000 }))
      .max(20)
      .optional()
      .describe(
        'The questions before it, the oldest first. A remote model rewrites the question if it leans on them; passages are found and picked by what it writes, which is never shown. Without one the last is taken for `before` if the question begins with a word that leans on it.',
      )
      .meta({ examples: [['How often is the mirror cleaned?']] }),
    draft: z
      .boolean()
      .optional()
      .describe("Whether the model's own wording is wanted beside the sentences, if the deployment allows it.")
      .meta({ examples: [false] }),
  })
  .meta({ id: 'Question' });

/** The operation `documents.ask`. */
export const askDocuments = c.mutation({
  method: 'POST',
  path: '/workspaces/:workspaceId/documents/ask',
  summary: 'Ask the documents',
  description: [
    'Finds passages as `documents.search` does, and answers by sentences, items of lists and rows of tables of the documents, whole and letter for letter. A remote model picks them, or without one the words that they share with the question. What shares too few of them is left out.',
    'If nothing is found, `nothingFound` says so; nothing is filled in.',
    'An answer costs 3 AI credits, its search included. They are charged first, and given back if the answer has no sentence.',
    'Each user has a number of questions a minute, 10 unless the deployment sets another. SERVICE_UNAVAILABLE while the AI service is.',
    'Documents that were deleted since are left out when a request is repeated with its `Idempotency-Key`, within a day.',
  ].join(' '),
  pathParams: z.object({ workspaceId: givenId }),
  body: question,
  ...operation('documents.ask', {
    access: 'document:read',
    errors: ['NOT_FOUND', 'LIMIT_REACHED', 'ORGANIZATION_SUSPENDED'],
    idempotent: true,
    response: answer,
  }),
});

/** The operation `documents.askStream`. */
export const askDocumentsStream = c.mutation({
  method: 'POST',
  path: '/workspaces/:workspaceId/documents/ask/stream',
  summary: 'Ask the documents, and follow the answer',
  description: [
    'As `documents.ask`, by server-sent events. Each `message` event is a sentence, or the `end` with all else; its `id` is opaque.',
    'The answer is kept for a day before its first event is sent. Send the same request with the last `id` as `Last-Event-Id` when you reconnect: the answer goes on after it, and costs nothing more. Before the first event, send what the header `Last-Event-Id` of the response told, or your `Idempotency-Key`.',
    'An `error` event carries the error envelope, then the stream ends; so does LIMIT_REACHED.',
  ].join(' '),
  pathParams: z.object({ workspaceId: givenId }),
  body: question,
  ...operation('documents.askStream', {
    access: 'document:read',
    errors: ['NOT_FOUND', 'LIMIT_REACHED', 'ORGANIZATION_SUSPENDED'],
    idempotent: true,
    stream: true,
    response: answerEvent,
  }),
});
