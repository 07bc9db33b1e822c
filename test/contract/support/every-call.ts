import { routes } from '../../../contract/index.ts';
import type { TestApi } from '../../support/api.ts';
import { createKey } from '../../support/api-keys.ts';
import { createRows, inputsFor } from './rows.ts';

/** Operations that the state of the rows does not allow. Their errors are checked, too. */
export const refusedByState = [
  ...['workspaces.update', 'jobs.cancel', 'jobs.retry'],
  ...['admin.organizations.cancelSubscription', 'admin.organizations.delete', 'admin.system.endOutage'],
];

/** They come last, since they delete what others need. */
const last = [
  ...['admin.flags.delete', 'documents.delete', 'workspaces.delete', 'apiKeys.revoke', 'webhooks.delete'],
  ...['organizations.delete', 'admin.organizations.delete'],
];

interface Call {
  operation: string;
  token: string;
  input: Record<string, unknown>;
}

/** A call of each operation, by who may do it, with rows of a new tenant. */
export async function everyCall(api: TestApi): Promise<Call[]> {
  const [made, admin] = [await createRows(api), await api.signUp()];
  const rows = { ...made, documentId: (await api.upload(made.tenant, { bytes: 'The dome opens at dusk.' })).id };
  await api.makePlatformAdmin(admin);
  const { token: key } = await createKey(api, rows.tenant);
  const tokenOf = (access: string) => (access === 'platform-admin' ? admin.token : access === 'api-key' ? key : rows.tenant.owner.token);
  return routes
    .map((route) => {
      const { operation, access } = route.metadata;
      const [input = {}] = inputsFor(route, rows);
      const confirmed = 'confirmSlug' in input ? { confirmSlug: rows.tenant.slug } : {};
      return { operation, token: tokenOf(access), input: { ...input, ...confirmed } };
    })
    .sort((one, other) => last.indexOf(one.operation) - last.indexOf(other.operation));
}
