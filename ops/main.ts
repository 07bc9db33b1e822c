// `npm run ops -- COMMAND`: the command line for operators. Exits 1 if a command fails, 2 if it is not understood.
import { runCommand } from './run-command.ts';

// The command goes on if its output is no longer read, as behind `| head`: half a backup is of no use.
for (const stream of [process.stdout, process.stderr]) {
  stream.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error;
  });
}

process.exitCode = await runCommand(process.argv.slice(2), process.env, {
  print: (line) => process.stdout.write(`${line}\n`),
  note: (line) => process.stderr.write(`${line}\n`),
});
