import { type Selectable, sql } from 'kysely';
import { ApiError } from '../../contract/api-error.ts';
import type { Db, Transaction } from '../../db/connect.ts';
import type { ApiKeyTable } from '../../db/schema.ts';
import { notBanned } from '../users/not-banned.ts';

/** A key as the database holds it, and whether it is valid by the database's clock. */
export type ApiKeyRow = Selectable<ApiKeyTable> & { status: 'active' | 'expired' | 'suspended'; overlap_ends_at: Date | null };

/** Keys that expired longer ago than this, 30 days of 24 hours, are no longer listed, and make room for new ones. */
export const shownAfterExpiry = sql`interval '720 hours'`;

/** The key, whichever organization it belongs to: the caller authorizes by the row. Throws NOT_FOUND. */
export async function getApiKey(db: Db | Transaction, id: string): Promise<ApiKeyRow> {
  const key = await selectKeys(db).where('api_key.id', '=', id).executeTakeFirst();
  if (!key) throw apiKeyNotFound();
  return key;
}

export function apiKeyNotFound(): ApiError {
  return new ApiError('NOT_FOUND', { message: 'API key not found.' });
}

/** Every key of an organization, by name. Their number is bounded at creation. */
export async function listApiKeys(db: Db, organizationId: string): Promise<ApiKeyRow[]> {
  return await selectKeys(db)
    .where('api_key.organization_id', '=', organizationId)
    .where(sql<boolean>`coalesce(expires_at > now() - ${shownAfterExpiry}, true)`)
    .orderBy('api_key.name')
    .orderBy('api_key.id')
    .execute();
}

function selectKeys(db: Db | Transaction) {
  const isResponsible = sql<boolean>`exists (
    select from member join "user" on "user".id = member."userId"
    where member."userId" = api_key.responsible_id and member."organizationId" = api_key.organization_id and ${notBanned('user')}
  )`;
  return db
    .selectFrom('api_key')
    .selectAll('api_key')
    .select([
      sql<ApiKeyRow['status']>`case when expires_at <= now() then 'expired' when ${isResponsible} then 'active' else 'suspended' end`.as(
        'status',
      ),
      sql<Date | null>`case when previous_expires_at > now() then previous_expires_at end`.as('overlap_ends_at'),
    ]);
}
