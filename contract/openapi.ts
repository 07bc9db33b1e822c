import { generateOpenApi, type SchemaTransformerSync } from '@ts-rest/open-api';
import { z } from 'zod';
import { contentTypes } from './content-types.ts';
import { contract, routes, version } from './index.ts';
import { about, headers, parameters, securitySchemes, tags } from './openapi-fixed.ts';
import { createOperations, type OpenApiOperation } from './openapi-operations.ts';
import { createSchemaBook } from './openapi-schemas.ts';
import { describeWebhooks } from './openapi-webhooks.ts';
import type { AnyRoute } from './route.ts';

type SchemaObject = ReturnType<SchemaTransformerSync>;

/** An OpenAPI 3.1 document, with the types that this project needs. */
interface OpenApiDocument {
  openapi: string;
  info: { title: string; version: string; description: string };
  paths: Record<string, Record<string, OpenApiOperation>>;
  components: { schemas: Record<string, object>; responses: Record<string, object> } & Record<string, Record<string, object>>;
  [key: string]: unknown;
}

/**
 * The OpenAPI 3.1 document of the REST interface, made from the contract. The name of the session cookie depends on the deployment, and so
 * do the media types that may be uploaded beside those of every deployment.
 */
export function buildOpenApi({ cookieName, extra = [] }: { cookieName: string; extra?: readonly string[] }): OpenApiDocument {
  const book = createSchemaBook();
  const operations = createOperations(book);
  // The document that ts-rest generates: the parameters, bodies and responses of the routes, with schemas converted by `book`.
  const { paths }: { paths: OpenApiDocument['paths'] } = generateOpenApi(
    contract,
    { info: { title: about.title, version } },
    {
      setOperationId: 'concatenated-path',
      // The types of ts-rest are those of OpenAPI 3.0, whose schemas are narrower.
      schemaTransformer: ({ schema, type }) =>
        schema instanceof z.ZodType ? (book.convert(schema, type === 'response' ? 'output' : 'input') as SchemaObject) : null,
    },
  );
  const described = mapOperations(paths, (operation) => operations.describe(operation, routeNamed(operation.operationId)));
  const webhooks = describeWebhooks(book);
  const schemas = book.components();
  return {
    openapi: '3.1.0',
    info: { ...about, version },
    servers: [{ url: '/api/v1', description: 'The deployment that serves this document.' }],
    security: [{ bearer: [] }, { apiKey: [] }, { cookie: [] }],
    tags,
    paths: joinSameTemplates(described),
    webhooks,
    components: {
      securitySchemes: securitySchemes(cookieName),
      parameters,
      headers,
      responses: operations.responses(),
      schemas: { ...schemas, ContentType: { ...schemas.ContentType, enum: [...contentTypes, ...extra] } },
    },
  };
}

function mapOperations(paths: OpenApiDocument['paths'], map: (operation: OpenApiOperation) => OpenApiOperation): OpenApiDocument['paths'] {
  const mapItem = (item: Record<string, OpenApiOperation>) =>
    Object.fromEntries(Object.entries(item).map(([method, operation]) => [method, map(operation)]));
  return Object.fromEntries(Object.entries(paths).map(([path, item]) => [path, mapItem(item)]));
}

function routeNamed(operationId: string): AnyRoute {
  const route = routes.find(({ metadata }) => metadata.operation === operationId);
  if (!route) throw new Error(`The contract declares ${operationId} under another name.`);
  return route;
}

/**
 * Joins paths that differ only in a parameter's name, which OpenAPI treats as the same path. The operations of all of them use the
 * first name, and describe what the segment is for them.
 */
function joinSameTemplates(paths: Record<string, Record<string, OpenApiOperation>>): OpenApiDocument['paths'] {
  const joined: OpenApiDocument['paths'] = {};
  const known = new Map<string, string>();
  for (const [path, item] of Object.entries(paths)) {
    const shape = path.replace(/\{\w+\}/g, '{}');
    const first = known.get(shape) ?? path;
    known.set(shape, first);
    const names = namesIn(first);
    const operations = Object.entries(item).map(([method, operation]) => [method, rename(operation, namesIn(path), names)]);
    joined[first] = { ...joined[first], ...Object.fromEntries(operations) };
  }
  return joined;
}

function namesIn(path: string): string[] {
  return [...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name);
}

function rename(operation: OpenApiOperation, from: string[], to: string[]): OpenApiOperation {
  const parameters = operation.parameters?.map((parameter) => {
    const index = parameter.in === 'path' ? from.indexOf(parameter.name ?? '') : -1;
    const name = to[index];
    if (name === undefined || name === parameter.name) return parameter;
    return { ...parameter, name, description: `Here the \`${parameter.name}\`, not the ${name}: OpenAPI has one name for a segment.` };
  });
  return parameters ? { ...operation, parameters } : operation;
}
