import { sql } from 'kysely';
import type { Transaction } from '../../db/connect.ts';
import { type NewMail, queueMail } from '../mail.ts';

/** Queues a mail to each owner of an organization. */
export async function mailOwners(
  trx: Transaction,
  organizationId: string,
  write: (organization: string) => Omit<NewMail, 'to'>,
): Promise<void> {
  const owners = await trx
    .selectFrom('member')
    .innerJoin('user', 'user.id', 'member.userId')
    .innerJoin('organization', 'organization.id', 'member.organizationId')
    .select(['user.email', 'organization.name'])
    .where('member.organizationId', '=', organizationId)
    .where(sql<boolean>`member.role ~ '\\yowner\\y'`)
    .orderBy('member.id')
    .execute();
  for (const { email, name } of owners) await queueMail(trx, { ...write(name), to: email });
}
