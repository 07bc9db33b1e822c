import { admin } from 'better-auth/plugins';
import { inOneTransaction } from './one-transaction.ts';

/** better-auth's plugin for platform admins. A user whom an organization needs is not removed, and keeps sessions and accounts. */
export function adminPlugin() {
  const plugin = admin();
  plugin.endpoints.removeUser = inOneTransaction(plugin.endpoints.removeUser);
  return plugin;
}
