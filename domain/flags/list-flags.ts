import type { Db } from '../../db/connect.ts';
import { type Flag, selectFlags } from './get-flag.ts';

/** Every feature flag with its overrides, by key. */
export async function listFlags(db: Db): Promise<Flag[]> {
  return selectFlags(db);
}
