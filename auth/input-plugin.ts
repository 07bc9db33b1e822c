import type { BetterAuthPlugin } from 'better-auth';
import { APIError, createAuthMiddleware } from 'better-auth/api';
import type { z } from 'zod';
import { bodies } from './input-schemas.ts';

/**
 * Checks what clients send where better-auth's own schemas take more than the service stores. Put it before plugins whose hooks read
 * the same fields.
 */
export function inputPlugin(): BetterAuthPlugin {
  return {
    id: 'input',
    hooks: {
      before: [
        {
          matcher: (ctx) => bodies.has(ctx.path ?? ''),
          handler: createAuthMiddleware(async ({ path, body }) => {
            check('body', bodies.get(path), body);
          }),
        },
      ],
    },
  };
}

/** Throws BAD_REQUEST with the code of the first problem, if it has one of its own, and VALIDATION_ERROR otherwise. */
function check(part: 'body' | 'query', schema: z.ZodType | undefined, value: unknown): void {
  const issue = schema?.safeParse(value).error?.issues[0];
  if (!issue) return;
  if (issue.code === 'custom' && typeof issue.params?.code === 'string')
    throw new APIError('BAD_REQUEST', { code: issue.params.code, message: issue.message });
  throw new APIError('BAD_REQUEST', { code: 'VALIDATION_ERROR', message: `[${[part, ...issue.path].join('.')}] ${issue.message}` });
}
