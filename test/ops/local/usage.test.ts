import { expect } from 'chai';
import { late, within } from '../../../base/concurrency/within.ts';
import { endPrograms, type Program, runProgram } from '../../support/processes.ts';

/** The scripts of package.json that have arguments, or refuse them, by their files. */
const scripts = {
  start: 'ops/local/start.ts',
  demo: 'docs/examples/demo/main.ts',
  ops: 'ops/main.ts',
  test: 'test/run.ts',
  'test:containers': 'test/lab/containers/main.ts',
  'test:fuzz': 'test/fuzz/main.ts',
  'test:properties': 'test/properties/main.ts',
  bench: 'test/lab/bench/main.ts',
  drill: 'test/lab/drill/main.ts',
  'save-histories': 'test/support/save-histories.ts',
};

describe('The usage of the scripts', () => {
  afterEach(endPrograms);

  for (const [name, file] of Object.entries(scripts)) {
    it(`npm run ${name} -- --help prints it and does nothing else`, async () => {
      const asked = runProgram(process.execPath, [file, '--help']);
      expect(await codeOf(asked), asked.stderr()).to.equal(0);
      expect(asked.stdout()).to.match(/^Usage: npm |^npm start takes no arguments/);
    });
  }

  it('is said to whoever gives an option that there is not', async () => {
    for (const name of ['start', 'bench', 'test:fuzz'] as const) {
      const refused = runProgram(process.execPath, [scripts[name], '--unheard-of']);
      expect(await codeOf(refused), name).to.equal(2);
      expect(refused.stdout() + refused.stderr()).to.not.equal('');
    }
  });
});

/** Throws with what a program has printed if it does not end. */
async function codeOf({ exited, stdout, stderr }: Program): Promise<number | null> {
  const ended = await within(60_000, exited);
  if (ended === late) throw new Error(`It has not ended after a minute. It printed: ${stdout()}${stderr()}`);
  return ended.code;
}
