import { generateOpenApi, type SchemaTransformerSync } from '@ts-rest/open-api';
import { z } from 'zod';
import { createSchemaBook } from '../openapi-schemas.ts';
import { version } from '../version.ts';
import { aiService } from './index.ts';

type Limits = { maxUploadBytes: number; maxTextCharacters: number };

/** The OpenAPI 3.1 document of the AI service, with the limits of a deployment. */
export function describeAiService({ maxUploadBytes, maxTextCharacters }: Limits) {
  const book = createSchemaBook();
  const description = `Extracts text from documents, summarizes text, creates embeddings, answers questions, extracts fields and ranks \
passages. Every response carries X-Request-Id. Here MAX_UPLOAD_BYTES is ${maxUploadBytes}, and MAX_TEXT_CHARACTERS ${maxTextCharacters}.`;
  const { paths } = generateOpenApi(
    aiService,
    { info: { title: 'Internal AI service', version } },
    {
      setOperationId: true,
      schemaTransformer: ({ schema, type }) =>
        schema instanceof z.ZodType
          ? (book.convert(schema, type === 'response' ? 'output' : 'input') as ReturnType<SchemaTransformerSync>)
          : null,
      operationMapper: (operation, route) => {
        if (route === aiService.health) return { ...operation, security: [] };
        const { content } = operation.requestBody as { content: Record<string, object> };
        // ts-rest knows one media type for each body.
        const asItIs: Record<string, object> = route === aiService.extract ? { '*/*': { schema: {} } } : {};
        return { ...operation, requestBody: { required: true, content: { ...content, ...asItIs } } };
      },
    },
  );
  return {
    openapi: '3.1.0',
    info: { title: 'Internal AI service', version, description },
    servers: [{ url: '/' }],
    security: [{ serviceToken: [] }],
    paths: paths as Record<string, Record<string, { summary: string }>>,
    components: {
      securitySchemes: { serviceToken: { type: 'apiKey', in: 'header', name: 'X-Service-Token' } },
      schemas: book.components(),
    },
  };
}
