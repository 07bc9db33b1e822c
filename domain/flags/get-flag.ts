import { type Selectable, sql } from 'kysely';
import { ApiError } from '../../contract/api-error.ts';
import type { Db } from '../../db/connect.ts';
import type { FeatureFlagTable } from '../../db/schema.ts';

/** A feature flag as the database holds it, without its overrides. */
export type FlagRow = Selectable<FeatureFlagTable>;

/** A feature flag with what it is for single organizations. */
export interface Flag extends FlagRow {
  overrides: Array<{ organization_id: string; enabled: boolean }>;
}

/** A flag with its overrides. Throws NOT_FOUND. */
export async function getFlag(db: Db, key: string): Promise<Flag> {
  const [flag] = await selectFlags(db, key);
  if (!flag) throw flagNotFound();
  return flag;
}

/** Every flag by key, or the one with this key; overrides by organization. */
export async function selectFlags(db: Db, key?: string): Promise<Flag[]> {
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

export function flagNotFound(): ApiError {
  return new ApiError('NOT_FOUND', { message: 'No such flag.' });
}
