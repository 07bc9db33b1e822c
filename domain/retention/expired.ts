import { sql } from 'kysely';
import type { Expired } from './delete-in-batches.ts';

/** Finished jobs are kept for 30 days. Their ledger entries stay. */
export const finishedJobs: Expired = {
  table: 'job',
  key: ['id'],
  where: sql`finished_at < now() - interval '30 days'`,
};

/** Audit entries are kept for `AUDIT_LOG_RETENTION_DAYS`; 0 keeps them for ever. */
export function auditEntries(retentionDays: number): Expired {
  return { table: 'audit_entry', key: ['id'], where: sql`created_at < now() - make_interval(days => ${retentionDays})` };
}

export const sessions: Expired = { table: 'session', key: ['id'], where: sql`"expiresAt" < now()` };

/** Idempotency keys are kept for a day. */
export const idempotencyKeys: Expired = {
  table: 'idempotency_key',
  key: ['user_id', 'operation', 'key'],
  where: sql`created_at < now() - interval '1 day'`,
};

/** Mails that were given up: their workflows are kept for as long. */
export const mails: Expired = { table: 'mail', key: ['id'], where: sql`created_at < now() - interval '30 days'` };

/** Links to verify an address or set a password, and states of a sign-in with a provider. Those that nobody followed stay until then. */
export const verifications: Expired = { table: 'verification', key: ['id'], where: sql`"expiresAt" < now()` };

/** Which of the payment provider's events were taken: for whoever asks what happened. None is sent again after so long. */
export const paymentEvents: Expired = { table: 'stripe_event', key: ['id'], where: sql`created_at < now() - interval '30 days'` };
