import type { Db, Transaction } from '../../db/connect.ts';

/** How many members an organization has: the seats that it pays for, if its plan bills them. */
export async function countMembers(db: Db | Transaction, organizationId: string): Promise<number> {
  const row = await db
    .selectFrom('member')
    .select(({ fn }) => fn.countAll<number>().as('members'))
    .where('organizationId', '=', organizationId)
    .executeTakeFirstOrThrow();
  return Number(row.members);
}
