import { inTransaction } from '../../db/transaction.ts';
import { grantAdmin } from '../../domain/platform/grant-admin.ts';
import { type Command, UsageError } from '../command.ts';
import { OpsError } from '../context.ts';

export const grantAdminCommand: Command = {
  usage: 'grant-admin EMAIL',
  summary: 'Make a user a platform admin. The user must have signed up.',
  async run(args, { db, print }) {
    const [email, ...more] = args;
    if (email === undefined || more.length > 0) throw new UsageError('grant-admin takes one email address.');
    const outcome = await inTransaction(db, (trx) => grantAdmin(trx, email));
    if (outcome === 'no-user') throw new OpsError(`Nobody has signed up as ${email}.`);
    print(outcome === 'granted' ? `${email} is a platform admin now.` : `${email} was a platform admin already.`);
  },
};
