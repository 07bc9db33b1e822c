import { AsyncLocalStorage } from 'node:async_hooks';
import type { RequestHandler } from 'express';

const current = new AsyncLocalStorage<string>();

/** Longer ones are cut: a key only has to tell callers apart. */
const mostCharacters = 128;

/** Does the work of a request under the key of `X-Fairness-Key`: where requests wait for each other, those of different keys take turns. */
export const underFairnessKey: RequestHandler = (request, _response, next) => {
  current.run(request.get('x-fairness-key')?.slice(0, mostCharacters) ?? '', next);
};

/** The key of this request; requests without one share theirs. */
export function fairnessKey(): string {
  return current.getStore() ?? '';
}
