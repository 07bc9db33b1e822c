import { expect } from 'chai';
import type { FaultReport } from '../lab/drill/fault.ts';
import { nightly } from '../support/nightly.ts';
import { endPrograms, runProgram } from '../support/processes.ts';

describe('npm run drill', function () {
  this.timeout(600_000);
  after(endPrograms);

  nightly('finds nothing lost, stuck, duplicated, off or orphaned after its short faults', async () => {
    // As in the shell of an operator.
    const env = { METRICS_PORT: '9464' };
    const drill = runProgram(process.execPath, ['test/lab/drill/main.ts', '--short', '--json'], { env });
    const { code } = await drill.exited;
    expect(code, `${drill.stdout()}${drill.stderr()}`).to.equal(0);
    const { faults } = JSON.parse(drill.stdout()) as { faults: FaultReport[] };
    expect(faults.map(({ name }) => name)).to.include.members([
      'worker-killed',
      'api-killed',
      'postgres-crashed',
      'temporal-away',
      'webhooks',
    ]);
    for (const { name, runs, recoverySeconds, cut, webhooks, ...counts } of faults) {
      expect(runs, String(name)).to.be.at.least(1);
      expect(recoverySeconds, String(name)).to.be.a('number');
      if (name.endsWith('-silent')) expect(cut?.apiMb, String(name)).to.be.above(0);
      if (name === 'webhooks') expect(webhooks).to.include({ endpoints: 20, events: 60 });
      expect(counts, String(name)).to.deep.equal({ lost: 0, stuck: 0, duplicated: 0, ledgerOff: 0, orphans: 0 });
    }
  });

  it('refuses options that it does not know, and a cut that does not last', async () => {
    for (const option of ['--cut-minutes=0', '--cut-minutes=soon', '--cut-hours=1', '--webhooks=many', '--webhooks=0x10@1']) {
      const drill = runProgram(process.execPath, ['test/lab/drill/main.ts', option]);
      expect((await drill.exited).code, option).to.equal(2);
      expect(drill.stderr(), option).to.include(option.slice(0, 5));
    }
  });

  it('names the faults that there are', async () => {
    const drill = runProgram(process.execPath, ['test/lab/drill/main.ts', 'unknown-fault']);
    expect((await drill.exited).code).to.equal(2);
    expect(drill.stderr()).to.include('There is no fault unknown-fault. There are: worker-killed, ');
  });
});
