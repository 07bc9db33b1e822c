import { sql } from 'kysely';
import { startMail } from '../../contract/intents/definitions.ts';
import type { Db } from '../../db/connect.ts';
import { addToOutbox } from '../../db/outbox.ts';
import type { MailKind } from '../../db/schema.ts';
import { inTransaction } from '../../db/transaction.ts';

const pageSize = 500;

/** The unsent mails of a kind: being sent, refused, held, or without a workflow. */
interface WaitingMails {
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
async function countMails(db: Db): Promise<number> {
  return (await listWaitingMails(db)).reduce((sum, { count }) => sum + count, 0);
}

/** Holds every unsent mail until {@link sendWaitingMails} is called. Returns how many there are. */
export async function holdMails(db: Db): Promise<number> {
  await db.updateTable('mail').set({ stopped_at: sql<Date>`now()` }).where('stopped_at', 'is', null).execute();
  return await countMails(db);
}

/** Asks for the workflow of every mail that is not sent yet. A mail that is being sent is not affected. Returns how many. */
export async function sendWaitingMails(db: Db): Promise<number> {
  let asked = 0;
  for (let after = ''; ; ) {
    const page = await db.selectFrom('mail').select(['id', 'kind']).where('id', '>', after).orderBy('id').limit(pageSize).execute();
    const ids = page.map(({ id }) => id);
    await inTransaction(db, async (trx) => {
      if (ids.length > 0) await trx.updateTable('mail').set({ stopped_at: null }).where('id', 'in', ids).execute();
      for (const { id, kind } of page) addToOutbox(trx, startMail({ mailId: id, kind }));
    });
    asked += page.length;
    after = page.at(-1)?.id ?? after;
    if (page.length < pageSize) return asked;
  }
}
