import { z } from 'zod';
import type { AiServiceConfig } from '../../config/ai-service.ts';
import { embedRequest, maxTextLength, maxTexts } from './embed.ts';
import { summarizeRequest } from './summarize.ts';

const version = '0.3.0';

const upload = z.object({ file: z.object({ name: z.string().optional(), content_type: z.string(), data_base64: z.string() }) });
const extracted = z.object({
  text: z.string(),
  characters: z.int().describe('Length of the text in Unicode code points.'),
  pages: z.int().nullable().describe('Pages of a PDF or an image; null for text.'),
  truncated: z.boolean(),
  content_type: z.string(),
});
const summary = z.object({ summary: z.string(), sentences: z.int(), model: z.string(), characters: z.int() });
const embeddings = z.object({ model: z.string(), dimensions: z.int(), vectors: z.array(z.union([z.array(z.number()), z.base64()])) });
const health = z.object({
  ok: z.boolean(),
  provider: z.enum(['local', 'remote']),
  ocr: z.enum(['local', 'remote', 'none']),
  auth: z.enum(['token', 'disabled']),
  problems: z.array(z.string()).describe('One sentence for each reason why the configuration cannot serve.'),
});
const error = z.object({ error: z.object({ code: z.string(), message: z.string() }) });

const errors = {
  400: 'The body is malformed.',
  401: 'The service token is missing or wrong.',
  408: 'The extraction took longer than EXTRACT_TIMEOUT_SECONDS. Final.',
  413: 'The body, the number of pages or the text is over its limit. Final.',
  415: 'The type cannot be read, the image is unreadable, or there is no OCR backend. Final.',
  422: 'The request is invalid, or the document is encrypted, damaged or empty. Final.',
  502: 'The OCR or the remote model failed or took too long. Retryable.',
  503: 'The extraction was interrupted, or too many documents wait. Retryable.',
} as const;

/** The OpenAPI document of the AI service, made from the schemas that validate its requests. */
export function openApiDocument(config: AiServiceConfig) {
  const jsonBody = (schema: z.ZodType) => ({ required: true, content: { 'application/json': { schema: jsonSchema(schema, 'input') } } });
  const uploadBody = {
    required: true,
    content: {
      'application/json': { schema: jsonSchema(upload, 'input') },
      '*/*': { schema: {} },
    },
  };
  return {
    openapi: '3.1.0',
    info: {
      title: 'Internal AI service',
      version,
      description: 'Extracts text from documents, summarizes text and creates embeddings. Every answer carries X-Request-Id.',
    },
    servers: [{ url: '/' }],
    security: [{ serviceToken: [] }],
    components: {
      securitySchemes: { serviceToken: { type: 'apiKey', in: 'header', name: 'X-Service-Token' } },
      schemas: { Error: jsonSchema(error) },
    },
    paths: {
      '/v1/extract': post(
        'extract',
        `Extracts the text of a document of at most ${config.maxUploadBytes} bytes: its raw bytes with their media type, or JSON with \
base64. The text is cut at ${config.maxTextCharacters} characters.`,
        uploadBody,
        extracted,
        [400, 401, 408, 413, 415, 422, 502, 503],
      ),
      '/v1/summarize': post(
        'summarize',
        `Summarizes a text of at most ${config.maxTextCharacters} characters.`,
        jsonBody(summarizeRequest),
        summary,
        [400, 401, 413, 422, 502, 503],
      ),
      '/v1/embed': post(
        'embed',
        `Embeds 1 to ${maxTexts} texts of at most ${maxTextLength} characters; one vector for each, in their order.`,
        jsonBody(embedRequest),
        embeddings,
        [400, 401, 413, 422, 502],
      ),
      '/health': {
        get: {
          operationId: 'health',
          summary: 'Reports whether the configuration can serve. Always 200.',
          security: [],
          responses: { 200: answer('What the service is.', health) },
        },
      },
    },
  };
}

function post(operationId: string, text: string, requestBody: unknown, schema: z.ZodType, statuses: (keyof typeof errors)[]) {
  const refusals = statuses.map((status) => [
    status,
    { description: errors[status], content: { 'application/json': { schema: { $ref: '#/components/schemas/Error' } } } },
  ]);
  return {
    post: { operationId, summary: text, requestBody, responses: { 200: answer('Done.', schema), ...Object.fromEntries(refusals) } },
  };
}

function answer(description: string, schema: z.ZodType) {
  return { description, content: { 'application/json': { schema: jsonSchema(schema) } } };
}

function jsonSchema(schema: z.ZodType, io: 'input' | 'output' = 'output') {
  const { $schema: _, ...rest } = z.toJSONSchema(schema, { io });
  return rest;
}
