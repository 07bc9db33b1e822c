import { bodyTooLargeSchema, type ErrorCode, errorCodes, errorSchemas, internalErrorSchema, pascal } from './errors.ts';
import { commonHeaders } from './openapi-fixed.ts';
import { exampleOf, type JsonSchema, type SchemaBook } from './openapi-schemas.ts';
import type { AnyRoute } from './route.ts';

interface ErrorBody {
  name: string;
  description: string;
  schema: JsonSchema;
}

/** Creates the error responses of operations: one shared component for each set of bodies that a status may have. */
export function createErrorResponses(book: SchemaBook) {
  const components = new Map<string, object>();
  const tooLarge: ErrorBody = {
    name: 'BodyTooLarge',
    description: 'The body of the request is larger than 1 MiB.',
    schema: book.convert(bodyTooLargeSchema, 'output'),
  };
  const internal: ErrorBody = {
    name: 'InternalError',
    description: 'The service failed.',
    schema: book.convert(internalErrorSchema, 'output'),
  };
  const schemaOf = (code: ErrorCode) => book.convert(errorSchemas[code], 'output');

  return {
    schemaOf,
    internal: internal.schema,
    /** References to the responses of every status other than 200. */
    responsesOf(route: AnyRoute): Record<number, { $ref: string }> {
      const byStatus = new Map<number, ErrorBody[]>();
      for (const code of route.metadata.errors) {
        const { status, message } = errorCodes[code];
        byStatus.set(status, [...(byStatus.get(status) ?? []), { name: pascal(code), description: message, schema: schemaOf(code) }]);
      }
      byStatus.set(413, [...(byStatus.get(413) ?? []), tooLarge]);
      byStatus.set(500, [internal]);
      return Object.fromEntries([...byStatus].map(([status, bodies]) => [status, share(status, bodies)]));
    },
    components: () => Object.fromEntries([...components].sort(([a], [b]) => (a < b ? -1 : 1))),
  };

  function share(status: number, bodies: ErrorBody[]): { $ref: string } {
    const name = bodies.map((body) => body.name).join('Or');
    if (!components.has(name)) components.set(name, response(status, bodies));
    return { $ref: `#/components/responses/${name}` };
  }

  function response(status: number, bodies: ErrorBody[]): object {
    const [first, ...rest] = bodies;
    const schema = rest.length === 0 ? first?.schema : { oneOf: bodies.map((body) => body.schema) };
    const waits = status === 429 || status === 503;
    return {
      description: bodies.map((body) => body.description).join(' Or: '),
      headers: { ...commonHeaders, ...(waits ? { 'Retry-After': { $ref: '#/components/headers/RetryAfter' } } : {}) },
      content: { 'application/json': { schema, examples: Object.fromEntries(bodies.map(example)) } },
    };
  }

  function example({ name, schema }: ErrorBody) {
    return [name, { value: exampleOf(schema, book.components()) }];
  }
}
