import { z } from 'zod';

/** The requests of the protocol that this project sends, as the reference of its API describes them. A field that it does not have is refused. */
const part = z.discriminatedUnion('type', [
  z.strictObject({ type: z.literal('text'), text: z.string() }),
  z.strictObject({
    type: z.literal('image_url'),
    image_url: z.strictObject({ url: z.string().regex(/^(?:https:|data:image\/)/), detail: z.enum(['auto', 'low', 'high']).optional() }),
  }),
]);
const message = z.discriminatedUnion('role', [
  z.strictObject({ role: z.literal('system'), content: z.string() }),
  z.strictObject({ role: z.literal('user'), content: z.union([z.string(), z.array(part).min(1)]) }),
  z.strictObject({ role: z.literal('assistant'), content: z.string() }),
]);
const requests: Record<string, z.ZodType> = {
  '/v1/chat/completions': z.strictObject({
    model: z.string().min(1),
    messages: z.array(message).min(1),
    temperature: z.number().min(0).max(2).optional(),
    max_completion_tokens: z.int().min(1).optional(),
    stream: z.literal(false).optional(),
  }),
  '/v1/embeddings': z.strictObject({
    model: z.string().min(1),
    input: z.union([z.string().min(1), z.array(z.string().min(1)).min(1).max(2_048)]),
    encoding_format: z.enum(['float', 'base64']).optional(),
    dimensions: z.int().min(1).optional(),
  }),
  // No part of that protocol: the form that Jina, Cohere and vLLM share.
  '/v1/rerank': z.strictObject({
    model: z.string().min(1),
    query: z.string().min(1),
    documents: z.array(z.string()).min(1),
    top_n: z.int().min(1).optional(),
  }),
};

/** What of a request is not as the protocol has it; undefined if all is. */
export function findViolation({
  method,
  path,
  contentType,
  body,
}: Record<'method' | 'path' | 'contentType', string | undefined> & { body: unknown }) {
  const schema = requests[path ?? ''];
  if (method !== 'POST' || !schema) return `there is no ${method} ${path}`;
  if (!/^application\/json\b/.test(contentType ?? '')) return `the body says that it is ${contentType}`;
  const { error } = schema.safeParse(body);
  return error && `${path}: ${z.prettifyError(error)}`;
}
