import type { BetterAuthPlugin } from 'better-auth';
import { APIError, createAuthMiddleware } from 'better-auth/api';
import type { z } from 'zod';
import { bodies, queries } from './input-schemas.ts';

/**
 * Checks inputs for which better-auth's own schemas accept more than the service stores. Put it before plugins whose hooks read the same
 * fields.
 */
export function inputPlugin(): BetterAuthPlugin {
  return {
    id: 'input',
    hooks: {
      before: [
        {
          matcher: () => true,
          handler: createAuthMiddleware(async ({ body, query }) => {
            checkIds('body', body);
            checkIds('query', query);
          }),
        },
        {
          matcher: ({ path = '' }) => bodies.has(path) || queries.has(path),
          handler: createAuthMiddleware(async ({ path, body, query }) => {
            check('body', bodies.get(path), body);
            check('query', queries.get(path), query ?? {});
          }),
        },
      ],
    },
  };
}

/** Fields that better-auth takes from the session if a request leaves them out. */
const ids = ['referenceId', 'organizationId', 'organizationSlug', 'teamId', 'userId'];

/** Throws VALIDATION_ERROR if an id is empty or a list, which must not stand for the session's own. */
function checkIds(part: 'body' | 'query', fields: Record<string, unknown> | undefined): void {
  for (const name of ids)
    if (fields?.[name] === '' || Object.keys(fields ?? {}).some((key) => key.startsWith(`${name}[`)))
      throw new APIError('BAD_REQUEST', { code: 'VALIDATION_ERROR', message: `[${part}.${name}] must be one id, or be left out` });
}

/** Throws BAD_REQUEST with the code of the first problem, if it has one of its own, and VALIDATION_ERROR otherwise. */
function check(part: 'body' | 'query', schema: z.ZodType | undefined, value: unknown): void {
  const issue = schema?.safeParse(value).error?.issues[0];
  if (!issue) return;
  throw new APIError('BAD_REQUEST', refusalOf(issue, [part, ...issue.path].join('.')));
}

function refusalOf(issue: z.core.$ZodIssue, path: string): { code: string; message: string } {
  if (issue.code === 'unrecognized_keys') return { code: 'FIELD_NOT_ALLOWED', message: `${issue.keys[0]} is not allowed to be set` };
  if (issue.code === 'custom' && typeof issue.params?.code === 'string') return { code: issue.params.code, message: issue.message };
  return { code: 'VALIDATION_ERROR', message: `[${path}] ${issue.message}` };
}
