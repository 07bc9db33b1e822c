import { sql } from 'kysely';
import type { Db } from '../../db/connect.ts';
import { isLive } from '../billing/live-subscription.ts';

export interface ResourceCounts {
  users: number;
  organizations: number;
  workspaces: number;
  /** Live ones only. */
  subscriptions: number;
}

/** Counts what the platform holds. */
export async function countResources(db: Db): Promise<ResourceCounts> {
  const { rows } = await sql<ResourceCounts>`
    select
      (select count(*) from "user") as users,
      (select count(*) from organization) as organizations,
      (select count(*) from workspace) as workspaces,
      (select count(*) from subscription where ${isLive}) as subscriptions
  `.execute(db);
  return rows[0] ?? { users: 0, organizations: 0, workspaces: 0, subscriptions: 0 };
}
