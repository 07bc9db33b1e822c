import { ApiError } from '../../contract/api-error.ts';
import { inTransaction } from '../../db/transaction.ts';
import { systemActor } from '../../domain/audit.ts';
import { liftSuspension, suspendOrganization } from '../../domain/organizations/suspend-organization.ts';
import { type Command, parseFlags, parseReason, UsageError } from '../command.ts';
import { OpsError } from '../context.ts';
import { findOrganization } from '../find-rows.ts';

const flags = { organization: { type: 'string' }, reason: { type: 'string' }, lift: { type: 'boolean' } } as const;

export const suspendCommand: Command = {
  usage: 'suspend --organization ID|SLUG (--reason TEXT | --lift)',
  summary: 'Suspend an organization: its members only read, and its jobs wait. --lift ends that.',
  flags,
  async run(args, { db, print }) {
    const { organization, lift = false, ...given } = parseFlags(args, flags);
    const reason = parseReason(given.reason);
    if (organization === undefined || lift === (reason !== ''))
      throw new UsageError('suspend takes --organization, and --reason or --lift.');
    const organizationId = await findOrganization(db, organization);
    await inTransaction(db, async (trx) => {
      if (lift) await liftSuspension(trx, systemActor, organizationId);
      else await suspendOrganization(trx, systemActor, { organizationId, reason });
    }).catch((error: unknown) => Promise.reject(error instanceof ApiError ? new OpsError(error.message) : error));
    print(`The organization ${organization} is ${lift ? 'no longer' : 'now'} suspended.`);
  },
};
