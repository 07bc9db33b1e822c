import type { Command } from '../command.ts';
import { billingCommand } from './billing.ts';
import { grantAdminCommand } from './grant-admin.ts';
import { ledgerCommand } from './ledger.ts';
import { replayCommand } from './replay.ts';
import { statusCommand } from './status.ts';
import { stuckCommand } from './stuck.ts';

/** Every command by its name, in the order of the usage text. */
export const commands: Record<string, Command> = {
  status: statusCommand,
  stuck: stuckCommand,
  ledger: ledgerCommand,
  billing: billingCommand,
  replay: replayCommand,
  'grant-admin': grantAdminCommand,
};
