import type { Response } from 'express';

/** Aborts when the caller leaves before it has its answer, so that nobody works for no one. */
export function requestSignal(response: Response): AbortSignal {
  const controller = new AbortController();
  response.once('close', () => {
    if (!response.writableFinished) controller.abort(new Error('The caller went away.'));
  });
  return controller.signal;
}
