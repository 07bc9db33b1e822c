import type { Request } from 'express';
import type { z } from 'zod';
import { ServiceError } from '../service-error.ts';
import { readBody } from './read-body.ts';

/**
 * Reads a JSON body and validates it. Throws ServiceError: 413 `too_large`, 400 `malformed_json`, 422 `invalid_request`
 * naming the fields.
 */
export async function readJson<T extends z.ZodType>(request: Request, schema: T, maxBytes: number): Promise<z.output<T>> {
  const body = await readBody(request, maxBytes);
  const parsed = schema.safeParse(parse(body));
  if (parsed.success) return parsed.data;
  const issues = parsed.error.issues.slice(0, 5).map((issue) => `${issue.path.join('.') || 'body'}: ${issue.message}`);
  throw new ServiceError(422, 'invalid_request', `The request is invalid. ${issues.join('; ')}`);
}

function parse(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString('utf8'));
  } catch {
    throw new ServiceError(400, 'malformed_json', 'The body is not valid JSON.');
  }
}
