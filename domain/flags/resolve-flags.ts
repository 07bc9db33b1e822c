import { sql } from 'kysely';
import type { Db } from '../../db/connect.ts';

/** What each flag is for an organization: its override where there is one, else the flag's default. */
export async function resolveFlags(db: Db, organizationId: string | undefined): Promise<Record<string, boolean>> {
  const flags = await db
    .selectFrom('feature_flag')
    .leftJoin('feature_flag_override', (join) =>
      join.onRef('flag_key', '=', 'feature_flag.key').on('organization_id', '=', organizationId ?? null),
    )
    .select(['feature_flag.key', sql<boolean>`coalesce(feature_flag_override.enabled, feature_flag.enabled)`.as('enabled')])
    .orderBy('feature_flag.key')
    .execute();
  return Object.fromEntries(flags.map(({ key, enabled }) => [key, enabled]));
}
