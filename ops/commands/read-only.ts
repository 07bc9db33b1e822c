import { inTransaction } from '../../db/transaction.ts';
import { systemActor } from '../../domain/audit.ts';
import { findReadOnly, setReadOnly } from '../../domain/platform/read-only.ts';
import { type Command, parseFlags, parseReason, UsageError } from '../command.ts';
import { OpsError } from '../context.ts';

const flags = { reason: { type: 'string' }, off: { type: 'boolean' } } as const;

export const readOnlyCommand: Command = {
  usage: 'read-only (--reason TEXT | --off)',
  summary: 'Refuse every write, and have no worker begin anything, until --off: to move the database.',
  flags,
  async run(args, { db, print }) {
    const { off = false, ...given } = parseFlags(args, flags);
    const reason = parseReason(given.reason);
    if (off === (reason !== '')) throw new UsageError('read-only takes --reason or --off.');
    await inTransaction(db, async (trx) => {
      if (off && (await findReadOnly(trx)) === null) throw new OpsError('The deployment is not read-only.');
      await setReadOnly(trx, systemActor, off ? null : reason);
    });
    print(off ? 'The deployment takes writes again.' : 'The deployment is read-only. What runs now still ends: see `status`.');
  },
};
