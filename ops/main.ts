// `npm run ops -- COMMAND`: the command line for operators. Exits 1 if a command fails, 2 if it is not understood.
import { setImmediate as tick } from 'node:timers/promises';
import { runCommand } from './run-command.ts';

// The command goes on if its output is no longer read, as behind `| head`, or cannot be kept: half a backup is of no use.
let unwritten: Error | undefined;
for (const stream of [process.stdout, process.stderr]) {
  stream.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') unwritten ??= error;
  });
}

const code = await runCommand(process.argv.slice(2), process.env, {
  print: (line) => process.stdout.write(`${line}\n`),
  note: (line) => process.stderr.write(`${line}\n`),
});
// A stream tells of a failed write a tick later.
await tick();
if (unwritten) process.stderr.write(`Not all of the output could be written: ${unwritten.message}\n`);
process.exitCode = unwritten ? code || 1 : code;
