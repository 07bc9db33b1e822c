import { type Selectable, sql } from 'kysely';
import { ApiError } from '../../contract/api-error.ts';
import type { Db } from '../../db/connect.ts';
import type { FeatureFlagTable } from '../../db/schema.ts';

/** A feature flag as the database holds it, without its overrides. */
export type FlagRow = Selectable<FeatureFlagTable>;

/** A feature flag with its overrides for single organizations. */
export interface Flag extends FlagRow {
  overrides: Array<{ organization_id: string; enabled: boolean }>;
}

/** A flag with its overrides. Throws NOT_FOUND. */
export async function getFlag(db: Db, key: string): Promise<Flag> {
  const [flag] = await selectFlags(db, key);
  if (!flag) throw flagNotFound();
  return flag;
}

/** Every feature flag with its overrides, by key. */
export async function listFlags(db: Db): Promise<Flag[]> {
  return selectFlags(db);
}

/** The value of each flag for an organization: its override if there is one, else the default. */
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

export function flagNotFound(): ApiError {
  return new ApiError('NOT_FOUND', { message: 'No such flag.' });
}

/** Every flag, or the one with this key. Ordered by key, the overrides by organization. */
async function selectFlags(db: Db, key?: string): Promise<Flag[]> {
  const { rows } = await sql<Flag>`
    select feature_flag.*, coalesce((
      select json_agg(json_build_object('organization_id', organization_id, 'enabled', feature_flag_override.enabled) order by organization_id)
      from feature_flag_override where flag_key = feature_flag.key
    ), '[]') as overrides
    from feature_flag
    ${key === undefined ? sql`` : sql`where key = ${key}`}
    order by key
  `.execute(db);
  return rows;
}
