import { sql } from 'kysely';
import { ApiError } from '../../contract/api-error.ts';
import type { Transaction } from '../../db/connect.ts';

/**
 * Takes the organization's lock, under which every limit is checked and written (rule 1); held until the transaction ends.
 * Throws NOT_FOUND where the organization is gone or is being deleted: it takes no more writes.
 */
export async function lockOrganization(trx: Transaction, organizationId: string): Promise<void> {
  const { rows } = await sql<{ deleting: boolean }>`
    select exists (select from organization_deletion where organization_id = organization.id) as deleting
    from organization where id = ${organizationId} for no key update
  `.execute(trx);
  if (!rows[0]) throw new ApiError('NOT_FOUND', { message: 'Organization not found.' });
  if (rows[0].deleting) throw new ApiError('NOT_FOUND', { message: 'This organization is being deleted.' });
}
