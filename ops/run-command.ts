import { inspect } from 'node:util';
import { StorageUnavailable } from '../adapters/storage/port.ts';
import { ConfigurationError, type Environment } from '../base/config/environment.ts';
import { loadOpsConfig } from '../base/config/ops.ts';
import { DatabaseUnavailable, isUnavailable } from '../db/unavailable.ts';
import { type AnyCommand, assertPassedOn, UsageError, usageOf } from './command.ts';
import { backupCommand } from './commands/backup.ts';
import { billingCommand } from './commands/billing.ts';
import { codecServerCommand } from './commands/codec-server.ts';
import { disableTwoFactorCommand } from './commands/disable-two-factor.ts';
import { endSubscriptionCommand } from './commands/end-subscription.ts';
import { failedCommand } from './commands/failed.ts';
import { grantAdminCommand } from './commands/grant-admin.ts';
import { ledgerCommand } from './commands/ledger.ts';
import { logLevelCommand } from './commands/log-level.ts';
import { mailsCommand } from './commands/mails.ts';
import { migrateCommand } from './commands/migrate.ts';
import { orphansCommand } from './commands/orphans.ts';
import { outagesCommand } from './commands/outages.ts';
import { planCommand } from './commands/plan.ts';
import { readOnlyCommand } from './commands/read-only.ts';
import { reindexCommand } from './commands/reindex.ts';
import { replayCommand } from './commands/replay.ts';
import { restoreCommand } from './commands/restore.ts';
import { statusCommand } from './commands/status.ts';
import { stuckCommand } from './commands/stuck.ts';
import { suspendCommand } from './commands/suspend.ts';
import { OpsError, type Output, withDatabase, withTools } from './context.ts';

/** Every command by its name, in the order of the usage text. */
const commands: Record<string, AnyCommand> = {
  migrate: migrateCommand,
  status: statusCommand,
  stuck: stuckCommand,
  outages: outagesCommand,
  failed: failedCommand,
  ledger: ledgerCommand,
  billing: billingCommand,
  orphans: orphansCommand,
  replay: replayCommand,
  reindex: reindexCommand,
  backup: backupCommand,
  restore: restoreCommand,
  mails: mailsCommand,
  suspend: suspendCommand,
  plan: planCommand,
  'read-only': readOnlyCommand,
  'log-level': logLevelCommand,
  'grant-admin': grantAdminCommand,
  'disable-two-factor': disableTwoFactorCommand,
  'end-subscription': endSubscriptionCommand,
  'codec-server': codecServerCommand,
};

/** Runs a command with its arguments. Returns the exit code: 1 if it failed, 2 if it was not understood. */
export async function runCommand([name, ...args]: string[], env: Environment, output: Output): Promise<number> {
  if (name === 'help' || name === '--help' || name === '-h') {
    output.print(usageOf(commands));
    return 0;
  }
  const command = Object.hasOwn(commands, name ?? '') ? commands[name ?? ''] : undefined;
  if (!command) {
    // Only the problem: above the list of every command it would scroll out of sight.
    const problem = name === undefined ? 'Which command?' : `There is no command ${name}.`;
    output.note(
      `${problem} The commands are: ${Object.keys(commands).join(', ')}.\n\nUsage: npm run ops -- COMMAND [ARGUMENTS]; --help describes them.`,
    );
    return 2;
  }
  if (args.some((arg) => arg === '--help' || arg === '-h')) {
    output.print(`Usage: npm run ops -- ${command.usage}\n\n${command.summary}`);
    return 0;
  }
  try {
    const config = loadOpsConfig(env);
    assertPassedOn(command, args, config.flagsOfNpm);
    await withTools(config, output, (tools) =>
      'runAtRest' in command ? command.runAtRest(args, tools) : withDatabase(tools, (context) => command.run(args, context)),
    );
    return 0;
  } catch (error) {
    output.note(explain(error, command.usage));
    return error instanceof UsageError ? 2 : 1;
  }
}

/** The error text for the operator, with the stack of an unexpected error. */
function explain(error: unknown, usage: string): string {
  if (error instanceof UsageError) return `${error.message}\n\nUsage: npm run ops -- ${usage}`;
  if (error instanceof OpsError || error instanceof ConfigurationError) return error.message;
  if (isConnectionError(error)) return `The database cannot be reached: ${error.message}`;
  if (error instanceof StorageUnavailable) return `The store of documents cannot be reached: ${messageOf(error.cause)}`;
  return explainRefusal(error) ?? inspect(error);
}

/** The message of an error that is due to the database or its user, and not to a bug; undefined for others. */
function explainRefusal(error: unknown): string | undefined {
  const code = codeOf(error);
  const message = error instanceof Error ? error.message : '';
  if (schemaCodes.has(code)) {
    return `The database does not have the schema of this version: ${message}. Is it the service's? \`npm run ops -- migrate\` brings it up to date.`;
  }
  return isUnavailable(error) || userCodes.has(code) ? `Postgres refuses: ${message} (${code})` : undefined;
}

/** undefined_table, undefined_column, undefined_function */
const schemaCodes = new Set(['42P01', '42703', '42883']);
/** insufficient_privilege, read_only_sql_transaction */
const userCodes = new Set(['42501', '25006']);

/** There is no connection: the network says so, or Postgres, which knows no such database, refuses access or shuts down. */
function isConnectionError(error: unknown): error is Error {
  return error instanceof DatabaseUnavailable || /^(28\w{3}|3D000|57P\d\d)$/.test(codeOf(error));
}

const messageOf = (error: unknown): string => (error instanceof Error && error.message) || inspect(error);

const codeOf = (error: unknown): string => (error instanceof Error && 'code' in error ? String(error.code) : '');
