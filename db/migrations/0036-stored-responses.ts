import type { Kysely } from 'kysely';
import { createIndexes } from './online.ts';

export const online = true;

/** The stored responses of an organization, which go with it. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await createIndexes(db, {
    // The expression of domain/organizations/delete-organization.ts.
    idempotency_key_organization: "on idempotency_key ((response ->> 'organizationId'))",
  });
}
