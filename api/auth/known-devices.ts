import { createHash } from 'node:crypto';
import { sql } from 'kysely';
import type { Db } from '../../db/connect.ts';
import type { Origin } from '../../domain/users/notice-mail.ts';
import { networkOf } from './client-network.ts';

/** The devices that are remembered of one user. */
const maxDevices = 100;

/** What a device is known by: its network, and its browser whatever the version. */
export function fingerprintOf({ address = '', userAgent = '' }: Origin): string {
  const browser = userAgent.replaceAll(/\d+/g, '');
  return createHash('sha256')
    .update(`${networkOf(address)}\n${browser}`)
    .digest('base64url');
}

/** Whether somebody has signed in from the device as the user with this address. */
export async function isKnownDevice(db: Db, email: string, fingerprint: string): Promise<boolean> {
  const known = db
    .selectFrom('known_device')
    .innerJoin('user', 'user.id', 'known_device.user_id')
    .select('user_id')
    .where('user.email', '=', email)
    .where('fingerprint', '=', fingerprint);
  return (await known.executeTakeFirst()) !== undefined;
}

/** Remembers a device. Returns whether it is new to a user who has others. */
export async function noteDevice(db: Db, userId: string, fingerprint: string): Promise<boolean> {
  const { rows } = await sql<{ isOneMore: boolean }>`
    with noted as (
      insert into known_device (user_id, fingerprint) values (${userId}, ${fingerprint})
      on conflict (user_id, fingerprint) do update set seen_at = now()
      returning xmax = 0 as is_new
    )
    select is_new and exists (select from known_device where user_id = ${userId}) as "isOneMore" from noted
  `.execute(db);
  const isOneMore = rows[0]?.isOneMore === true;
  if (isOneMore)
    await sql`delete from known_device where user_id = ${userId} and fingerprint in (
      select fingerprint from known_device where user_id = ${userId} order by seen_at desc offset ${maxDevices}
    )`.execute(db);
  return isOneMore;
}
