import { runWithTransaction } from '@better-auth/core/context';
import type { AuthContext } from 'better-auth';
import { retryDeadlocks } from '../../db/transaction.ts';

type Endpoint = (request: never) => Promise<unknown>;

/** Wraps an endpoint of better-auth, so that all its writes are one transaction. better-auth itself would commit in between. */
export function inOneTransaction<E extends Endpoint>(endpoint: E): E {
  const call = endpoint as unknown as (request: { context: AuthContext }) => Promise<unknown>;
  const atOnce: typeof call = (request) => retryDeadlocks(() => runWithTransaction(request.context.adapter, () => call(request)));
  return Object.assign(atOnce, endpoint) as unknown as E;
}
