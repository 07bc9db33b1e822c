import type { Migration } from 'kysely/migration';
import * as baseline from './0001-baseline.ts';

/**
 * A migration runs in a transaction, unless it is `online`: then it is run outside of one, may build indexes while others write, and may be
 * run again from its beginning if it was interrupted (CONTRIBUTING.md, migrations).
 */
export type ShippedMigration = Migration & { online?: boolean };

/** Every migration this code ships, by name, in the order they apply. */
export const migrations: Record<string, ShippedMigration> = {
  '0001-baseline': baseline,
};
