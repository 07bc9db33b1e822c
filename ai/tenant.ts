import { AsyncLocalStorage } from 'node:async_hooks';
import type { RequestHandler } from 'express';
import { tenantHeader } from '../contract/ai-service/values.ts';

const tenants = new AsyncLocalStorage<string>();

/** The tenant of the request that this is a part of; undefined if its caller does not say. */
export function currentTenant(): string | undefined {
  return tenants.getStore();
}

/** Makes what a request names as its tenant the {@link currentTenant} of its work. */
export const readTenant: RequestHandler = (request, _response, next) => {
  const tenant = request.get(tenantHeader);
  if (tenant) tenants.run(tenant, next);
  else next();
};
