import { admin } from './admin.ts';
import { documents } from './documents.ts';
import { jobs } from './jobs.ts';
import { billing, organizations } from './organizations.ts';
import type { AnyRoute } from './route.ts';
import { account, contact, system } from './system.ts';
import { workspaces } from './workspaces.ts';

/** What the service promises: every operation, by group and name. */
export const contract = { system, contact, account, organizations, billing, workspaces, documents, jobs, admin };

export type Contract = typeof contract;

/** The version of the service, the same everywhere it is told. */
export const version = '0.3.0';

/** Every route of the contract, in its order. */
export const routes: AnyRoute[] = collect(contract);

function collect(node: object): AnyRoute[] {
  return Object.values(node).flatMap((child) => (isRoute(child) ? [child] : collect(child)));
}

export function isRoute(node: unknown): node is AnyRoute {
  return typeof node === 'object' && node !== null && 'metadata' in node && 'responses' in node;
}
