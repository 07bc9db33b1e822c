import { sql } from 'kysely';
import type { Db } from '../../db/connect.ts';
import { addToOutbox } from '../../db/outbox.ts';
import type { MailKind } from '../../db/schema.ts';
import { inTransaction } from '../../db/transaction.ts';
import { startMail } from '../../workflows/definitions.ts';

const pageSize = 500;

/** Mails of a kind that are not sent yet: being sent, refused, or without a workflow. */
export interface WaitingMails {
  kind: MailKind;
  count: number;
  /** How many of them a mail server has refused. */
  refused: number;
  oldestSeconds: number;
}

/** The mails that are not sent yet, by kind. */
export async function listWaitingMails(db: Db): Promise<WaitingMails[]> {
  return await db
    .selectFrom('mail')
    .select([
      'kind',
      sql<number>`count(*)`.as('count'),
      sql<number>`count(*) filter (where attempts > 0)`.as('refused'),
      sql<number>`extract(epoch from now() - min(created_at))::int`.as('oldestSeconds'),
    ])
    .groupBy('kind')
    .orderBy('kind')
    .execute();
}

/** How many mails are not sent yet. */
export async function countMails(db: Db): Promise<number> {
  return (await listWaitingMails(db)).reduce((sum, { count }) => sum + count, 0);
}

/** Asks for the workflow of every mail that is not sent yet. One that is being sent is not disturbed. Returns how many. */
export async function sendWaitingMails(db: Db): Promise<number> {
  let asked = 0;
  for (let after = ''; ; ) {
    const page = await db.selectFrom('mail').select(['id', 'kind']).where('id', '>', after).orderBy('id').limit(pageSize).execute();
    await inTransaction(db, async (trx) => {
      for (const { id, kind } of page) addToOutbox(trx, startMail({ mailId: id, kind }));
    });
    asked += page.length;
    after = page.at(-1)?.id ?? after;
    if (page.length < pageSize) return asked;
  }
}
