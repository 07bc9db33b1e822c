import { exampleOf, type SchemaBook } from './openapi-schemas.ts';
import { webhookEvents } from './webhook-events.ts';

const signedHeaders = [
  {
    name: 'webhook-id',
    description: 'The id of the event, the same for every attempt: take an event once.',
    example: 'evt_0198d2c47e2a7b619d0f3f6f2d1b9a10',
  },
  { name: 'webhook-timestamp', description: 'When the attempt was made, in seconds since 1970. Refuse old ones.', example: '1795780800' },
  {
    name: 'webhook-signature',
    description: 'The signatures of `id.timestamp.body`, separated by spaces: `v1,` with HMAC-SHA256, or `v1a,` with Ed25519.',
    example: 'v1,K5oZfzN95Z9UVu1EsfQmfVNQhnkZ2pj9o9NDN/H/pI4=',
  },
].map(({ name, description, example }) => ({
  name,
  in: 'header',
  required: true,
  description,
  schema: { type: 'string', examples: [example] },
}));

/** The `webhooks` of the OpenAPI document: what the service sends to the endpoints of organizations. */
export function describeWebhooks(book: SchemaBook): Record<string, object> {
  return Object.fromEntries(
    webhookEvents.map(({ name, when, schema }) => {
      const converted = book.convert(schema, 'output');
      const media = { schema: converted, example: exampleOf(converted, book.components()) };
      const post = {
        operationId: `receive.${name}`,
        summary: name,
        description: `${when} Sent as Standard Webhooks 1.0 says. Any 2xx within 15 seconds accepts it; 410 disables the endpoint; everything else is tried again.`,
        tags: ['webhooks'],
        security: [],
        parameters: signedHeaders,
        requestBody: { required: true, content: { 'application/json': media } },
        responses: { '2XX': { description: 'The event was taken.' }, '410': { description: 'The endpoint is gone: it is disabled.' } },
      };
      return [name, { post }];
    }),
  );
}
