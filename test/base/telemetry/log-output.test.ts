import { expect } from 'chai';
import { runProgram } from '../../support/processes.ts';

const program = `
  import { createLog } from './base/telemetry/create-log.ts';
  import { logCrashes } from './base/telemetry/log-crashes.ts';
  const log = createLog({ level: 'info', base: { part: 'test' } });
  logCrashes(log);
  log.info('first');
  setTimeout(() => log.info('second'), 200);
  setTimeout(() => {
    console.error('still works');
    throw new Error('a crash');
  }, 400);
`;
/** Runs the program with its standard output changed by the shell. */
const runWith = (redirection: string) =>
  runProgram('/bin/sh', ['-c', `exec "$0" --input-type=module -e "$1" ${redirection}`, process.execPath, program]);

describe('A log on standard output', () => {
  it('on a full disk stops neither the work of the process nor its end', async function () {
    this.timeout(20_000);
    const full = runWith('>/dev/full');
    expect(await full.exited).to.deep.equal({ code: 1, signal: null });
    expect(full.stderr()).to.equal('still works\n');
  });

  it('has every line, the last before the process ends, too', async () => {
    const piped = runWith('');
    expect(await piped.exited).to.deep.equal({ code: 1, signal: null });
    const lines = piped.stdout().trimEnd().split('\n');
    expect(lines.map((line) => JSON.parse(line).msg)).to.deep.equal(['first', 'second', 'the process ends: an error was not caught']);
  });
});
