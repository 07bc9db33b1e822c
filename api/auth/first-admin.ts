import type { Logger } from 'pino';
import type { ServerConfig } from '../../base/config/server.ts';
import type { Db } from '../../db/connect.ts';
import { inTransaction } from '../../db/transaction.ts';
import { grantFirstAdmin, hasAdmin } from '../../domain/platform/grant-first-admin.ts';

/**
 * Makes the first platform admin when a session of theirs begins: the user of `FIRST_ADMIN_EMAIL`, or outside of production whoever signed
 * up first. Does nothing once there is one.
 */
export function createFirstAdmin({ config, db, log }: { config: Pick<ServerConfig, 'firstAdmin'>; db: Db; log: Logger }) {
  const rule = config.firstAdmin;
  // Looked up by the first session, and remembered: once there is an admin, no session costs a query.
  let settled: boolean | undefined;
  return async ({ userId }: { userId: string }): Promise<void> => {
    if (!rule) return;
    settled ??= await hasAdmin(db);
    if (settled) return;
    const outcome = await inTransaction(db, (trx) => grantFirstAdmin(trx, userId, rule));
    settled = outcome !== 'another-user';
    if (outcome === 'granted') log.warn({ userId }, 'there was no platform admin: this user is the first one now');
  };
}
