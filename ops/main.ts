// `npm run ops -- COMMAND`: what an operator does from the command line. Exits 1 if a command fails, 2 if it is not understood.
import { ConfigurationError } from '../config/environment.ts';
import { loadOpsConfig } from '../config/ops.ts';
import { DatabaseUnavailable } from '../db/unavailable.ts';
import { type Command, UsageError, usageOf } from './command.ts';
import { billingCommand } from './commands/billing.ts';
import { endSubscriptionCommand } from './commands/end-subscription.ts';
import { grantAdminCommand } from './commands/grant-admin.ts';
import { ledgerCommand } from './commands/ledger.ts';
import { migrateCommand } from './commands/migrate.ts';
import { orphansCommand } from './commands/orphans.ts';
import { replayCommand } from './commands/replay.ts';
import { statusCommand } from './commands/status.ts';
import { stuckCommand } from './commands/stuck.ts';
import { OpsError, withContext } from './context.ts';

/** Every command by its name, in the order of the usage text. */
const commands: Record<string, Command> = {
  migrate: migrateCommand,
  status: statusCommand,
  stuck: stuckCommand,
  ledger: ledgerCommand,
  billing: billingCommand,
  orphans: orphansCommand,
  replay: replayCommand,
  'grant-admin': grantAdminCommand,
  'end-subscription': endSubscriptionCommand,
};

process.exitCode = await main(process.argv.slice(2));

async function main([name, ...args]: string[]): Promise<number> {
  if (name === 'help' || name === '--help' || name === '-h') {
    console.log(usageOf(commands));
    return 0;
  }
  const command = Object.hasOwn(commands, name ?? '') ? commands[name ?? ''] : undefined;
  if (!command) {
    console.error(`${name === undefined ? 'Which command?' : `There is no command ${name}.`}\n\n${usageOf(commands)}`);
    return 2;
  }
  try {
    await withContext(loadOpsConfig(process.env), (context) => command.run(args, context));
    return 0;
  } catch (error) {
    return explain(error, command.usage);
  }
}

/** Prints what went wrong, and returns the exit code. An unexpected error is printed with its stack. */
function explain(error: unknown, usage: string): number {
  if (error instanceof UsageError) {
    console.error(`${error.message}\n\nUsage: npm run ops -- ${usage}`);
    return 2;
  }
  if (error instanceof OpsError || error instanceof ConfigurationError) console.error(error.message);
  else if (isConnectionError(error)) console.error(`The database cannot be reached: ${error.message}`);
  else console.error(error);
  return 1;
}

/** There is no connection: the network says so, or Postgres, which knows no such database, refuses access or shuts down. */
function isConnectionError(error: unknown): error is Error {
  if (error instanceof DatabaseUnavailable) return true;
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  return /^(28\w{3}|3D000|57P\d\d)$/.test(code);
}
