import type { Command } from '../command.ts';
import { grantAdminCommand } from './grant-admin.ts';

/** Every command by its name, in the order of the usage text. */
export const commands: Record<string, Command> = {
  'grant-admin': grantAdminCommand,
};
