#!/usr/bin/env node
// `sheaf`: the command line for those who use a service. docs/integrations.md lists its commands and exit codes.
import { exitCodes, interrupted } from './failure.ts';
import { runCommand } from './run-command.ts';

// The reader of the pipe has left, as behind `| head`. Uploads go on with the next run.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code === 'EPIPE') process.exit(141);
  process.stderr.write(`Error: What was found cannot be written: ${error.message}\n`);
  process.exit(exitCodes.failed);
});

const ending = new AbortController();
process.on('SIGINT', stop).on('SIGTERM', stop);

function stop(): void {
  // The second time is for who does not want to wait.
  if (ending.signal.aborted) process.exit(interrupted);
  ending.abort();
}

const { stdin, stdout, stderr, env } = process;
process.exitCode = await runCommand(process.argv.slice(2), { env, stdin, stdout, stderr, signal: ending.signal });
