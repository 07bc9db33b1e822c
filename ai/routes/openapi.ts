import { Router } from 'express';
import { z } from 'zod';
import type { AiServiceConfig } from '../../base/config/ai-service.ts';
import { version } from '../../contract/version.ts';
import type { Operation } from '../http/observe-requests.ts';
import {
  answerRequest,
  embedRequest,
  fieldsRequest,
  maxPassages,
  maxTextLength,
  maxTexts,
  rerankRequest,
  summarizeRequest,
} from './handlers.ts';

const style =
  'body{font:16px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem}pre{background:#f4f4f4;padding:1rem;overflow:auto}';

/** GET /openapi.json, built when it is first asked for, and at /docs and /redoc the same document as a self-contained page. */
export function documentationRoutes(config: AiServiceConfig): Router {
  let built: ReturnType<typeof openApiDocument> | undefined;
  const document = () => {
    built ??= openApiDocument(config);
    return built;
  };
  const router = Router();
  router.get('/openapi.json', (_request, response) => {
    response.json(document());
  });
  router.get(['/docs', '/redoc'], (_request, response) => {
    response.set('Content-Security-Policy', "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'");
    response.type('html').send(renderPage(document()));
  });
  return router;
}

function renderPage({ info, paths }: ReturnType<typeof openApiDocument>): string {
  const sections = Object.entries(paths).flatMap(([path, operations]) =>
    Object.entries(operations).map(
      ([method, operation]) =>
        `<h2>${method.toUpperCase()} ${escapeHtml(path)}</h2><p>${escapeHtml(operation.summary)}</p><details><summary>Schema</summary>` +
        `<pre>${escapeHtml(JSON.stringify(operation, null, 2))}</pre></details>`,
    ),
  );
  return `<!doctype html><html lang="en"><head><meta charset="utf-8"><title>${escapeHtml(info.title)}</title><style>${style}</style></head>
<body><h1>${escapeHtml(info.title)} ${escapeHtml(info.version)}</h1><p>${escapeHtml(info.description)}</p>${sections.join('\n')}</body></html>`;
}

function escapeHtml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}

const upload = z.object({ file: z.object({ name: z.string().optional(), content_type: z.string(), data_base64: z.string() }) });
const extracted = z.object({
  text: z.string(),
  characters: z.int().describe('Length of the text in Unicode code points.'),
  pages: z.int().nullable().describe('Pages of a PDF or an image, or slides; null for kinds without pages.'),
  truncated: z.boolean(),
  content_type: z.string(),
  outline: z
    .object({
      page_starts: z.array(z.int()).nullable().describe('Where each page begins; null for kinds without pages.'),
      pages_end: z.int().optional().describe('Where the last page ends, if the texts of files within the document stand behind the pages.'),
      headings: z.array(z.object({ level: z.int(), start: z.int(), title: z.string() })),
    })
    .optional()
    .describe('Where the parts of the text begin, in Unicode code points. Only if the request has `X-Outline: true`.'),
  ocr_pages: z.int().optional().describe('How many pages of a scanned PDF text recognition has read; absent if none.'),
  ocr_confidence: z
    .array(z.int().nullable())
    .optional()
    .describe(
      'How sure the local text recognition was of each page, from 0 to 100; null for pages that it did not read, or on which it found nothing, or less than their own text.',
    ),
  notices: z
    .array(z.object({ code: z.string(), text: z.string() }))
    .optional()
    .describe('What was left out or had to be guessed, and why. Absent if there is nothing to say.'),
});
const summary = z.object({ summary: z.string(), sentences: z.int(), model: z.string(), characters: z.int() });
const embeddings = z.object({ model: z.string(), dimensions: z.int(), vectors: z.array(z.union([z.array(z.number()), z.base64()])) });
const answer = z.object({
  answer: z
    .array(z.object({ units: z.array(z.int()), mark: z.string().nullable().describe('Words of the unit that respond.') }))
    .describe('The number of a unit, or of two neighbours, in the order of the answer. Empty if nothing responds.'),
  draft: z.string().nullable().describe("The model's own words, if they were asked for."),
  extractive: z.boolean().describe('Whether no model picked the units.'),
  model: z.string().nullable().describe('The remote model; null if none picked.'),
});
const fields = z.object({
  model: z.string(),
  parts: z
    .array(
      z.array(
        z.object({ path: z.string(), value: z.union([z.string(), z.number(), z.boolean()]), passage: z.string(), quote: z.string() }),
      ),
    )
    .describe('What was read out of each part of the document; items of arrays are numbered in each part anew.'),
  unreadable: z.int().describe('How many values were in another form than the model was asked for.'),
});
const ranking = z.object({ model: z.string(), results: z.array(z.object({ index: z.int(), relevance_score: z.number() })) });
const health = z.object({
  ok: z.boolean(),
  provider: z.enum(['local', 'remote']).describe('What embeds.'),
  chat: z.enum(['local', 'remote']).describe('What summarizes and answers. Only a remote model extracts fields.'),
  ocr: z.enum(['local', 'remote', 'none']),
  auth: z.enum(['token', 'disabled']),
  problems: z.array(z.string()).describe('One sentence for each reason why the configuration cannot serve.'),
  embeddings: z
    .array(
      z.object({
        model: z.string(),
        dimensions: z.int().nullable().describe('Null until a remote model has responded once.'),
        chunk_characters: z.int().describe('How long the chunks of a document should be.'),
        texts_per_call: z.int().describe('How many texts a call should have at most.'),
      }),
    )
    .describe('The models that embed. The first is the one of this deployment.'),
});
const error = z.object({ error: z.object({ code: z.string(), message: z.string() }) });

const errors = {
  400: 'The body is malformed.',
  401: 'The service token is missing or wrong.',
  408: 'The extraction took longer than EXTRACT_TIMEOUT_SECONDS. Final.',
  413: 'The body, the number of pages or the text is over its limit. Final.',
  415: 'The type cannot be read, the image is unreadable, or there is no OCR backend that runs. Final.',
  422: 'The request is invalid, the document is encrypted, damaged or empty, or the text takes too much time or memory. Final.',
  502: 'The OCR or the remote model failed or took too long. Retryable.',
  503: 'The work was interrupted, or too many documents wait. Retryable.',
} as const;

/** The OpenAPI document of the AI service, made from the schemas that validate its requests. */
function openApiDocument(config: AiServiceConfig) {
  return {
    openapi: '3.1.0',
    info: {
      title: 'Internal AI service',
      version,
      description:
        'Extracts text from documents, summarizes text, creates embeddings, answers questions, extracts fields and ranks passages. Every response carries X-Request-Id.',
    },
    servers: [{ url: '/' }],
    security: [{ serviceToken: [] }],
    components: {
      securitySchemes: { serviceToken: { type: 'apiKey', in: 'header', name: 'X-Service-Token' } },
      schemas: { Error: jsonSchema(error) },
    },
    paths: {
      ...extractPath(config),
      ...summarizePath(config),
      ...embedPath(),
      ...answerPath(),
      ...fieldsPath(),
      ...rerankPath(),
      '/health': {
        get: {
          operationId: 'health',
          summary: 'Reports whether the configuration can serve. Always 200.',
          security: [],
          responses: { 200: success('What the service is.', health) },
        },
      },
    } satisfies Record<`/v1/${Operation}` | '/health', object>,
  };
}

function extractPath({ maxUploadBytes, maxTextCharacters }: AiServiceConfig) {
  const summary = `Extracts the text of a document of at most ${maxUploadBytes} bytes: its raw bytes with their media type, or JSON with \
base64. The text is cut at ${maxTextCharacters} characters. A caller that accepts application/x-ndjson is told of each scanned page that is \
read, in lines of JSON: \`{ progress: { read, of } }\`, and at the end \`{ status, body, retry_after }\`.`;
  const content = { 'application/json': { schema: jsonSchema(upload, 'input') }, '*/*': { schema: {} } };
  const statuses = [400, 401, 408, 413, 415, 422, 502, 503] as const;
  return { '/v1/extract': post('extract', summary, { required: true, content }, extracted, statuses) };
}

function summarizePath({ maxTextCharacters }: AiServiceConfig) {
  const text = `Summarizes a text of at most ${maxTextCharacters} characters.`;
  return { '/v1/summarize': post('summarize', text, jsonBody(summarizeRequest), summary, [400, 401, 413, 422, 502, 503]) };
}

function embedPath() {
  const text = `Embeds 1 to ${maxTexts} texts of at most ${maxTextLength} characters; one vector for each, in their order.`;
  return { '/v1/embed': post('embed', text, jsonBody(embedRequest), embeddings, [400, 401, 413, 422, 502, 503]) };
}

function answerPath() {
  const text = `Answers a question from at most ${maxPassages} passages, best first, by the numbers of the units that respond. No word of \
the answer is from anywhere else.`;
  return { '/v1/answer': post('answer', text, jsonBody(answerRequest), answer, [400, 401, 413, 422, 502, 503]) };
}

function fieldsPath() {
  const text = `Reads the values of a JSON Schema out of the passages of a document, by the remote chat model. Every value names what it \
quotes; whether the quotes hold is for the caller to check. 422 \`no_chat_model\` without a model.`;
  return { '/v1/fields': post('fields', text, jsonBody(fieldsRequest), fields, [400, 401, 413, 422, 502, 503]) };
}

function rerankPath() {
  const text = `Ranks 1 to ${maxPassages} texts of at most ${maxTextLength} characters by how they respond to a query, by the model of \
REMOTE_AI_RERANK_MODEL: their indexes, the best first. 422 \`no_reranker\` without one.`;
  return { '/v1/rerank': post('rerank', text, jsonBody(rerankRequest), ranking, [400, 401, 413, 422, 502, 503]) };
}

function jsonBody(schema: z.ZodType) {
  return { required: true, content: { 'application/json': { schema: jsonSchema(schema, 'input') } } };
}

function post(operationId: string, summary: string, requestBody: unknown, schema: z.ZodType, statuses: readonly (keyof typeof errors)[]) {
  const refusals = statuses.map((status) => [
    status,
    { description: errors[status], content: { 'application/json': { schema: { $ref: '#/components/schemas/Error' } } } },
  ]);
  return {
    post: {
      operationId,
      summary,
      requestBody,
      responses: { 200: success('Done.', schema), ...Object.fromEntries(refusals) },
    },
  };
}

function success(description: string, schema: z.ZodType) {
  return { description, content: { 'application/json': { schema: jsonSchema(schema) } } };
}

function jsonSchema(schema: z.ZodType, io: 'input' | 'output' = 'output') {
  const { $schema: _, ...rest } = z.toJSONSchema(schema, { io });
  return rest;
}
