import { sql } from 'kysely';
import type { Db } from '../db/connect.ts';
import { OpsError } from './context.ts';

/** The id of the organization with this id or slug. Throws OpsError without one: a command on no row would find nothing wrong with it. */
export async function findOrganization(db: Db, idOrSlug: string): Promise<string> {
  const rows = db
    .selectFrom('organization')
    .select('id')
    .where(({ or, eb }) => or([eb('id', '=', idOrSlug), eb('slug', '=', idOrSlug)]));
  // The id counts first: a tenant chooses its slug, which could be the id of another one.
  const found = await rows.orderBy(sql`id = ${idOrSlug}`, 'desc').limit(1).executeTakeFirst();
  if (!found) throw new OpsError(`There is no organization ${idOrSlug}.`);
  return found.id;
}

/** Throws OpsError if there is no such workspace, for the same reason. */
export async function assertWorkspace(db: Db, id: string): Promise<void> {
  const found = await db.selectFrom('workspace').select('id').where('id', '=', id).executeTakeFirst();
  if (!found) throw new OpsError(`There is no workspace ${id}.`);
}
