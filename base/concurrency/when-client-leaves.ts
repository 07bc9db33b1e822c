import type { ServerResponse } from 'node:http';

/** Aborts if the client of a response leaves before it has all of it, also if it has left already. */
export function whenClientLeaves(response: ServerResponse, reason?: Error): AbortSignal {
  const left = new AbortController();
  const onClose = () => {
    if (!response.writableFinished) left.abort(reason);
  };
  if (response.closed) onClose();
  else response.once('close', onClose);
  return left.signal;
}
