import { createRequire } from 'node:module';
import { Command, CommanderError } from 'commander';
import { addAsk } from './commands/ask.ts';
import { addCompletion } from './commands/completion.ts';
import { addDocuments } from './commands/documents.ts';
import { addEvaluate } from './commands/evaluate.ts';
import { addExport } from './commands/export.ts';
import { addJobs } from './commands/jobs.ts';
import { addKeys } from './commands/keys.ts';
import { addLogin } from './commands/login.ts';
import { addSearch } from './commands/search.ts';
import { addSync } from './commands/sync.ts';
import { addUpload } from './commands/upload.ts';
import { addUsage } from './commands/usage.ts';
import { addWebhooks } from './commands/webhooks.ts';
import { addWorkspaces } from './commands/workspaces.ts';
import { describeError, exitCodeOf, exitCodes, Failure, interrupted, sayError } from './failure.ts';
import { createOutput, type Terminal } from './terminal.ts';

const help = `
Exit codes:
  0 done, 1 failed, 2 not understood, 3 not signed in or not allowed,
  4 the service was not reached, 5 done in part, 6 a limit is reached,
  130 interrupted

Environment:
  SHEAF_URL, SHEAF_API_KEY, SHEAF_ORGANIZATION   instead of what \`sheaf login\` stored
  NO_COLOR                                       no colors`;

/** Runs a command, prints its result or its error, and returns the exit code. */
export async function runCommand(args: string[], terminal: Terminal): Promise<number> {
  const { stdout, stderr, signal } = terminal;
  const isJson = args.includes('--json');
  try {
    await createProgram(terminal, isJson).parseAsync(args, { from: 'user' });
    return exitCodes.done;
  } catch (error) {
    if (error instanceof CommanderError && error.exitCode === 0) return exitCodes.done;
    const code = signal.aborted && !(error instanceof Failure) ? interrupted : exitCodeOf(error);
    if (isJson) stderr.write(`${JSON.stringify({ error: describeError(error) })}\n`);
    else if (error instanceof CommanderError) return code;
    else if (code === interrupted) stderr.write('Interrupted.\n');
    else stderr.write(`${createOutput({ ...terminal, stdout: stderr }, false).paint('red', 'Error')}: ${sayError(error)}\n`);
    return code;
  } finally {
    await new Promise((resolve) => stdout.write('', resolve));
  }
}

/** Commander prints its own errors, unless they are to be JSON. */
function createProgram(terminal: Terminal, isJson: boolean): Command {
  const { version } = createRequire(import.meta.url)('@sheaf/client/package.json') as { version: string };
  const program = new Command('sheaf').description('Documents, jobs and search of a Sheaf service.').version(version);
  program.exitOverride().addHelpText('after', help).showHelpAfterError('(--help says more)');
  program.configureOutput({ writeOut: (text) => terminal.stdout.write(text), writeErr: (text) => isJson || terminal.stderr.write(text) });
  for (const add of [
    addLogin,
    addUpload,
    addSync,
    addExport,
    addSearch,
    addAsk,
    addEvaluate,
    addWorkspaces,
    addDocuments,
    addJobs,
    addUsage,
    addKeys,
    addWebhooks,
    addCompletion,
  ])
    add(program, terminal);
  return program;
}
