import { z } from 'zod';
import { c } from '../route.ts';
import { answer, answerRequest, fieldsRequest, rewriteRequest, rewritten, saidFields } from './answers.ts';
import { extracted, linesMediaType, outlineHeader, seconds, secondsHeader, upload } from './extract.ts';
import { health } from './health.ts';
import { embeddings, embedRequest, maxTexts, ranking, rankRequest, summary, summaryRequest } from './texts.ts';
import { maxPassages, maxTextLength, tenantHeader } from './values.ts';

const provider = z
  .object({
    role: z.enum(['chat', 'embed', 'vision', 'rerank']),
    state: z.string().describe('Why: `unreachable`, `failing`, `limited`, `quota` or `refused`.'),
  })
  .describe('The provider of a remote model that serves nobody just now.');

/** The body of every response with a status of 400 or more. */
export const refusal = z
  .object({ error: z.object({ code: z.string(), message: z.string(), provider: provider.optional() }) })
  .meta({ id: 'Error' });

const refusals = {
  400: refusal.describe('The body is malformed.'),
  401: refusal.describe('The service token is missing or wrong.'),
  413: refusal.describe('The body, the number of pages or the text is over its limit. Final.'),
  422: refusal.describe(
    'The request is invalid, the document is encrypted, damaged or empty, or the text takes too much time or memory. Final.',
  ),
  500: refusal.describe('The service failed unexpectedly. Retryable.'),
  502: refusal.describe('The OCR or the remote model failed or took too long. Retryable.'),
  503: refusal.describe('The work was interrupted, or too many documents wait. Retryable.'),
};

const headers = z.object({ [tenantHeader]: z.string().optional().describe('Whose work it is. Tenants get their turns.') });

const operations = c.router(
  {
    extract: {
      method: 'POST',
      path: '/extract',
      summary: `Extracts the text of a document of at most MAX_UPLOAD_BYTES: its raw bytes with their media type, or JSON with base64. The \
text is cut at MAX_TEXT_CHARACTERS. A caller that accepts ${linesMediaType} is told of each scanned page that is read, in lines of JSON: \
\`{ progress: { read, of } }\`, and at the end \`{ status, body, retry_after }\`.`,
      headers: headers.extend({
        [outlineHeader]: z.enum(['true', 'false']).optional().describe('Whether the outline is wanted, too.'),
        [secondsHeader]: seconds.describe('How long the caller waits. What is read of a scanned PDF until then is its text.'),
      }),
      body: upload,
      responses: {
        200: extracted.describe('The text of the document.'),
        408: refusal.describe('The extraction took longer than EXTRACT_TIMEOUT_SECONDS. Final.'),
        415: refusal.describe('The type cannot be read, the image is unreadable, or there is no OCR backend that runs. Final.'),
      },
    },
    summarize: {
      method: 'POST',
      path: '/summarize',
      summary: 'Summarizes a text of at most MAX_TEXT_CHARACTERS.',
      headers,
      body: summaryRequest,
      responses: { 200: summary.describe('The summary.') },
    },
    embed: {
      method: 'POST',
      path: '/embed',
      summary: `Embeds 1 to ${maxTexts} texts of at most ${maxTextLength} characters; one vector for each, in their order.`,
      headers,
      body: embedRequest,
      responses: { 200: embeddings.describe('The vectors, and the model that made them.') },
    },
    answer: {
      method: 'POST',
      path: '/answer',
      summary: `Answers a question from at most ${maxPassages} passages, best first, by the numbers of the units that respond. No word of \
the answer is from anywhere else.`,
      headers,
      body: answerRequest,
      responses: { 200: answer.describe('What responds.') },
    },
    rewrite: {
      method: 'POST',
      path: '/rewrite',
      summary: 'Rewrites a question that leans on those before it, by the remote chat model, so that it can be searched for by itself.',
      body: rewriteRequest,
      responses: { 200: rewritten.describe('The question.') },
    },
    fields: {
      method: 'POST',
      path: '/fields',
      summary: `Reads the values of a JSON Schema out of the passages of a document, by the remote chat model. Every value names what it \
quotes; whether the quotes hold is for the caller to check. 422 \`no_chat_model\` without a model.`,
      headers,
      body: fieldsRequest,
      responses: { 200: saidFields.describe('What the model has read.') },
    },
    rerank: {
      method: 'POST',
      path: '/rerank',
      summary: `Ranks 1 to ${maxPassages} texts of at most ${maxTextLength} characters by how they respond to a query, by the model of \
REMOTE_AI_RERANK: their indexes, the best first. 422 \`no_reranker\` without one.`,
      headers,
      body: rankRequest,
      responses: { 200: ranking.describe('The order.') },
    },
  },
  { pathPrefix: '/v1', commonResponses: refusals },
);

/** The contract of the internal AI service: its routes, for the service, its client and its OpenAPI document. */
export const aiService = c.router({
  ...operations,
  health: {
    method: 'GET',
    path: '/health',
    summary: 'Reports whether the configuration can serve. Always 200, and needs no token.',
    responses: { 200: health.describe('What the service is.') },
  },
});

/** What the service does. Metrics have these names. */
export type AiOperation = keyof typeof operations;
export const aiOperations = Object.keys(operations) as AiOperation[];
