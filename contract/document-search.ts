import { z } from 'zod';
import { contentType } from './content-types.ts';
import { count, dateTime, givenId, id, pageNumber, position, singleLine, withExample } from './fields.ts';
import { metadataFilter, tag } from './labels.ts';
import { c, operation } from './route.ts';

const citation = z
  .object({
    page: pageNumber
      .nullable()
      .describe('The page that the chunk begins on; null for kinds that have no pages, and in files that a PDF holds.'),
    lastPage: pageNumber.nullable().describe('The page that the chunk ends on.'),
    headings: z
      .array(z.string())
      .nullable()
      .describe(
        'The headings that the beginning of the chunk is under, the outermost first; of a chunk that begins before all headings, the first one in it.',
      )
      .meta({ examples: [['Care of the telescope', 'Mirrors']] }),
    start: position
      .nullable()
      .describe('Where the chunk begins in the text of the document; null also if the text was extracted again since.'),
    end: position.nullable().describe('Where it ends: the position after its last character.'),
  })
  .meta({
    id: 'Citation',
    description:
      'Where a chunk stands in its document. Positions count Unicode code points, from 0. All is null for a document that was indexed before citations were known, until it is indexed again.',
  });

const highlight = z
  .object({
    start: position.describe('The position of the first character in `text`.'),
    end: position.describe('The position after the last character.'),
    page: pageNumber.nullable().describe('The page that it stands on, if that is known.'),
  })
  .meta({ id: 'Highlight', description: 'A part of the text of a chunk that matched. Positions count Unicode code points, from 0.' });

const chunkSchema = z
  .object({
    chunkId: id,
    documentId: id,
    documentName: z.string().meta({ examples: ['handbook.pdf'] }),
    index: count.describe('The position of the chunk in its document, from 0.').meta({ examples: [3] }),
    text: z.string().meta({ examples: ['Mirrors are washed with deionised water on the first Monday of each month.'] }),
    score: z
      .number()
      .nullable()
      .describe(
        'Cosine similarity: 1 identical, 0 unrelated. Never null in mode `semantic`, always null in mode `lexical`; in mode `hybrid` null for a chunk that was indexed with another model.',
      )
      .meta({ examples: [0.62] }),
    lexicalScore: z
      .number()
      .optional()
      .describe(
        'BM25 of the words of the query in this workspace: 0 if none occurs. Only scores of one search compare. Absent in mode `semantic`.',
      )
      .meta({ examples: [7.31] }),
    rank: withExample(z.int().min(1).describe('The position in the results, from 1.'), 1),
    citation: citation.optional().describe('Only if `include` asks for it.'),
    highlights: z
      .array(highlight)
      .optional()
      .describe(
        'The words that the chunk shares with the query, in the order of the text, in every mode. Empty if it shares none, as a chunk may that is near in meaning only. Only if `include` asks for them.',
      ),
  })
  .meta({ id: 'SearchResult' });

/** The ways in which a search can compare. */
export const searchModes = ['semantic', 'lexical', 'hybrid'] as const;

export const searchMode = z.enum(searchModes, { error: `must be one of ${searchModes.join(', ')}` }).meta({ id: 'SearchMode' });
/** What a search compares: meaning, words, or both. */
export type SearchMode = z.infer<typeof searchMode>;

/** Which documents of a workspace a search or a question looks in. */
export const searchFilter = z
  .strictObject({
    documentIds: z.array(givenId).min(1).max(200).optional().describe('Only these documents.'),
    contentTypes: z.array(contentType).min(1).max(50).optional().describe('Only documents of one of these types.'),
    createdFrom: dateTime.optional().describe('Only documents whose upload began at this time or later.'),
    createdTo: dateTime.optional().describe('Only documents whose upload began before this time.'),
    indexedFrom: dateTime.optional().describe('Only documents that were indexed last at this time or later.'),
    indexedTo: dateTime.optional().describe('Only documents that were indexed last before this time.'),
    tags: z.array(tag).min(1).max(50).optional().describe('Only documents that have all of these tags.'),
    metadata: metadataFilter.optional(),
  })
  .meta({
    id: 'SearchFilter',
    description:
      'Which documents are searched: those that meet every condition. A field that there is not is refused, since the search would find too much.',
    // Matches the example of `documents.createUpload`; an example of every field would match nothing.
    examples: [{ contentTypes: ['application/pdf'], tags: ['contract'], metadata: { year: 2026 } }],
  });

/** The operation `documents.search`. */
export const searchDocuments = c.mutation({
  method: 'POST',
  path: '/workspaces/:workspaceId/documents/search',
  summary: 'Search by meaning or by words',
  description: [
    'The best chunks of the workspace, best first; of the documents that meet `filter`, if it is given.',
    '`semantic`: those nearest in meaning to the query, among those indexed with the model that embeds the query.',
    '`lexical`: those that have words of the query, ranked by BM25; it uses no AI service and costs no credit.',
    '`hybrid`: those that are best by both together.',
    'Each user has a number of searches a minute, 30 unless the deployment sets another. `semantic` and `hybrid` cost one AI credit unless embeddings are local, and are SERVICE_UNAVAILABLE while the AI service is.',
  ].join(' '),
  pathParams: z.object({ workspaceId: givenId }),
  body: z
    .object({
      query: singleLine({ min: 1, max: 1000 }).meta({ examples: ['How often is the mirror cleaned?'] }),
      limit: z.int().min(1).max(50).default(10).describe('How many chunks, or documents, are answered at the most.'),
      mode: searchMode.optional().describe('What is compared. By default `semantic`, unless the deployment sets another.'),
      filter: searchFilter.optional(),
      groupBy: z
        .enum(['document'], { error: 'must be document' })
        .optional()
        .describe('With `document` each document is found once, by its best chunk.'),
      include: z
        .array(z.enum(['citation', 'highlights'], { error: 'must be one of citation, highlights' }))
        .max(2)
        .optional()
        .describe('What results have besides the chunk: where it stands in its document, and which parts of it matched.')
        .meta({ examples: [['citation', 'highlights']] }),
    })
    .meta({ id: 'SearchQuery' }),
  ...operation('documents.search', {
    access: 'document:read',
    errors: ['NOT_FOUND', 'LIMIT_REACHED', 'ORGANIZATION_SUSPENDED'],
    response: z
      .object({
        model: z
          .string()
          .describe('The model that embedded the query; `bm25` if none did: in mode `lexical`, and for a query without a letter or digit.')
          .meta({ examples: ['local-hash-256'] }),
        results: z.array(chunkSchema),
      })
      .meta({ id: 'SearchResults' }),
  }),
});
