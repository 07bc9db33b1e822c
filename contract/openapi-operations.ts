import { type Access, keyPermissions } from './access.ts';
import { createErrorResponses } from './openapi-errors.ts';
import { commonHeaders } from './openapi-fixed.ts';
import { exampleOf, type JsonSchema, type SchemaBook, schemaPrefix } from './openapi-schemas.ts';
import type { AnyRoute } from './route.ts';

interface OpenApiParameter {
  $ref?: string;
  name?: string;
  in?: string;
  required?: boolean;
  description?: string;
  schema?: JsonSchema;
}

interface MediaType {
  schema: JsonSchema;
  example?: unknown;
  examples?: Record<string, { value: unknown }>;
}

export interface OpenApiOperation {
  operationId: string;
  summary: string;
  description: string;
  tags: string[];
  security?: object[];
  parameters?: OpenApiParameter[];
  requestBody?: { description?: string; required?: boolean; content: Record<string, MediaType> };
  responses: Record<string, { $ref?: string; description?: string; headers?: object; content?: Record<string, MediaType> }>;
}

/** Completes the operations that ts-rest generates with the routes' metadata: access, errors, headers, streams, examples. */
export function createOperations(book: SchemaBook) {
  const errors = createErrorResponses(book);
  return {
    describe(operation: OpenApiOperation, route: AnyRoute): OpenApiOperation {
      const { access, idempotent, stream } = route.metadata;
      const { operationId, summary, description, tags, requestBody } = operation;
      return {
        operationId,
        summary,
        description: `${description}\n\n${accessNote(access)}`,
        tags: [tags.join('.')],
        ...securityOf(access),
        parameters: [
          ...(operation.parameters ?? []),
          ...(idempotent ? [{ $ref: '#/components/parameters/IdempotencyKey' }] : []),
          ...(stream ? [{ $ref: '#/components/parameters/LastEventId' }] : []),
          // A stream that begins anew for each key needs no other id.
          ...(stream && !idempotent ? [{ $ref: '#/components/parameters/StreamId' }] : []),
        ],
        ...(requestBody ? { requestBody: describeBody(requestBody, route) } : {}),
        responses: { 200: stream ? describeStream(route) : describeAnswer(operation, route), ...errors.responsesOf(route) },
      };
    },
    /** The responses shared by operations, by name. */
    responses: errors.components,
  };

  function describeBody({ content }: NonNullable<OpenApiOperation['requestBody']>, route: AnyRoute) {
    const schema = content['application/json']?.schema ?? {};
    return { required: !route.body?.safeParse(undefined).success, content: { 'application/json': withExamples(schema) } };
  }

  function describeAnswer(operation: OpenApiOperation, route: AnyRoute) {
    const schema = operation.responses[200]?.content?.['application/json']?.schema ?? {};
    const media = withExamples(schema, route.metadata.answerExample);
    const lines = route.metadata.lines && describeLines(schema, route.metadata.lines);
    return { description: 'Success.', headers: commonHeaders, content: { 'application/json': media, ...lines } };
  }

  /** The items of a list of the answer, of which each line is one. */
  function describeLines({ $ref = '' }: JsonSchema, list: string) {
    const { properties = {} } = book.components()[$ref.slice(schemaPrefix.length)] ?? {};
    return { 'application/x-ndjson': withExamples(properties[list]?.items ?? {}) };
  }

  function describeStream(route: AnyRoute) {
    const data = book.convert(route.responses[200], 'output');
    const id = { type: 'string', description: 'Send it as `Last-Event-Id` to go on after this event.', examples: ['bW5ha2s0.q83vEjRWeJA'] };
    const message: JsonSchema = {
      type: 'object',
      properties: { event: { const: 'message' }, id, data },
      required: ['event', 'id', 'data'],
    };
    const failure = {
      oneOf: [
        errors.schemaOf('FORBIDDEN'),
        ...route.metadata.errors.filter((code) => code !== 'FORBIDDEN').map(errors.schemaOf),
        errors.internal,
      ],
    };
    const error: JsonSchema = { type: 'object', properties: { event: { const: 'error' }, data: failure }, required: ['event', 'data'] };
    const examples = { message: { value: exampleOf(message, book.components()) }, error: { value: exampleOf(error, book.components()) } };
    return {
      description:
        'Server-sent events. The schema is that of one event, its `data` parsed as JSON. Lines that begin with a colon keep the connection alive.',
      headers: { ...commonHeaders, 'Last-Event-Id': { $ref: '#/components/headers/LastEventId' } },
      content: { 'text/event-stream': { schema: { oneOf: [message, error] }, examples } },
    };
  }

  /** One example, or one for each alternative of a union, named by its discriminator. */
  function withExamples(schema: JsonSchema, changes: object = {}): MediaType {
    const components = book.components();
    const { discriminator, oneOf } = (schema.$ref && components[schema.$ref.slice(schemaPrefix.length)]) || schema;
    if (!discriminator || !oneOf) return { schema, example: merge(exampleOf(schema, components), changes) };
    const { propertyName } = discriminator as { propertyName: string };
    const values = oneOf.map((part) => merge(exampleOf(part, components), changes) as Record<string, string>);
    return { schema, examples: Object.fromEntries(values.map((value) => [value[propertyName], { value }])) };
  }
}

function merge(value: unknown, changes: object): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  const known = value as Record<string, unknown>;
  const changed = Object.entries(changes).map(([key, change]) => [key, isObject(change) ? merge(known[key], change) : change]);
  return { ...known, ...Object.fromEntries(changed) };
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** What differs from the document's own security: who is public needs nothing, and some operations take no API key, or nothing else. */
function securityOf(access: Access): { security?: object[] } {
  if (access === 'public') return { security: [] };
  if (access === 'api-key') return { security: [{ apiKey: [] }] };
  const takesKeys = access === 'member' || (keyPermissions as readonly Access[]).includes(access);
  return takesKeys ? {} : { security: [{ bearer: [] }, { cookie: [] }] };
}

function accessNote(access: Access): string {
  if (access === 'public') return 'Needs no session.';
  if (access === 'signed-in') return 'Needs a session.';
  if (access === 'api-key') return 'Needs an API key.';
  if (access === 'member') return 'Needs a session of a member of the organization.';
  if (access === 'platform-admin') return 'Needs a session of a platform admin.';
  return `Needs a session of a member of the organization whose role holds \`${access}\`.`;
}
