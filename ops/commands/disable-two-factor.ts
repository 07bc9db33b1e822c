import { inTransaction } from '../../db/transaction.ts';
import { disableTwoFactor } from '../../domain/platform/disable-two-factor.ts';
import { type Command, UsageError } from '../command.ts';
import { OpsError } from '../context.ts';

export const disableTwoFactorCommand: Command = {
  usage: 'disable-two-factor EMAIL',
  summary: 'Turn the second factor of a user off who has lost it, codes included.',
  async run(args, { db, print }) {
    const [email, ...more] = args;
    if (email === undefined || more.length > 0) throw new UsageError('disable-two-factor takes one email address.');
    const outcome = await inTransaction(db, (trx) => disableTwoFactor(trx, email));
    if (outcome === 'no-user') throw new OpsError(`Nobody has signed up as ${email}.`);
    print(outcome === 'disabled' ? `${email} needs no second factor any more.` : `${email} had no second factor.`);
  },
};
