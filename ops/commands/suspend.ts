import { ApiError } from '../../contract/api-error.ts';
import { inTransaction } from '../../db/transaction.ts';
import { systemActor } from '../../domain/audit.ts';
import { liftSuspension, suspendOrganization } from '../../domain/organizations/suspend-organization.ts';
import { type Command, parseFlags, UsageError } from '../command.ts';
import { OpsError } from '../context.ts';

const flags = { organization: { type: 'string' }, reason: { type: 'string' }, lift: { type: 'boolean' } } as const;

export const suspendCommand: Command = {
  usage: 'suspend --organization ID (--reason TEXT | --lift)',
  summary: 'Suspend an organization: its members only read, and its jobs wait. --lift ends that.',
  flags,
  async run(args, { db, print }) {
    const { organization: organizationId, reason = '', lift = false } = parseFlags(args, flags);
    if (organizationId === undefined || lift === (reason !== ''))
      throw new UsageError('suspend takes --organization, and --reason or --lift.');
    await inTransaction(db, async (trx) => {
      if (lift) await liftSuspension(trx, systemActor, organizationId);
      else await suspendOrganization(trx, systemActor, { organizationId, reason });
    }).catch((error: unknown) => Promise.reject(error instanceof ApiError ? new OpsError(error.message) : error));
    print(`The organization ${organizationId} is ${lift ? 'no longer' : 'now'} suspended.`);
  },
};
