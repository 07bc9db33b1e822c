import { isAppRoute } from '@ts-rest/core';
import { admin } from './admin.ts';
import { apiKeys } from './api-keys.ts';
import { documents } from './documents.ts';
import { jobs } from './jobs.ts';
import { billing, organizations } from './organizations.ts';
import { type AnyRoute, c, type Routes } from './route.ts';
import { account, contact, system } from './system.ts';
import { webhooks } from './webhooks.ts';
import { workspaces } from './workspaces.ts';

export { version } from './version.ts';

/** The contract of the service: every operation, by group and name. */
export const contract = c.router({
  system,
  contact,
  account,
  organizations,
  billing,
  workspaces,
  documents,
  jobs,
  apiKeys,
  webhooks,
  admin,
});

export type Contract = typeof contract;

/** Every route, in the order of the contract. */
export const routes: AnyRoute[] = collect(contract);

function collect(node: Routes): AnyRoute[] {
  return Object.values(node).flatMap((child) => (isRoute(child) ? [child] : collect(child)));
}

function isRoute(node: AnyRoute | Routes): node is AnyRoute {
  return isAppRoute(node);
}
