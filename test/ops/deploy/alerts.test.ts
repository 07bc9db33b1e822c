import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { parse } from 'yaml';
import { findInstalled } from '../../support/installed.ts';
import { runProgram } from '../../support/processes.ts';

interface AlertCase {
  alertname: string;
  exp_alerts?: object[];
}

const directory = 'ops/deploy/monitoring';
const read = (name: string) => parse(readFileSync(join(directory, name), 'utf8'));
const alerts: string[] = read('alerts.yml').groups.flatMap(({ rules }: { rules: { alert: string }[] }) => rules.map(({ alert }) => alert));
const files = ['alerts.test.yml', 'housekeeping.test.yml'];
const cases: AlertCase[] = files.flatMap((file) =>
  read(file).tests.flatMap((test: { alert_rule_test: AlertCase[] }) => test.alert_rule_test),
);
const promtool = findInstalled('promtool');

describe('The alert rules', () => {
  it('have a case that fires each of them, and one that does not', () => {
    expect(alerts).to.have.length.above(10);
    const fired = cases.filter(({ exp_alerts: expected }) => expected);
    expect(new Set(fired.map(({ alertname }) => alertname))).to.deep.equal(new Set(alerts));
    const quiet = cases.filter(({ exp_alerts: expected }) => !expected);
    expect(new Set(quiet.map(({ alertname }) => alertname))).to.deep.equal(new Set(alerts));
  });

  it('have a case of a service that is well, in which none fires', () => {
    const [well] = read('alerts.test.yml').tests;
    const silent = (well.alert_rule_test as AlertCase[]).filter(({ exp_alerts: expected }) => !expected);
    expect(silent.map(({ alertname }) => alertname)).to.deep.equal(alerts);
    expect(well.alert_rule_test).to.have.length(alerts.length);
  });

  if (!promtool) process.stderr.write('promtool is not on PATH, so the alert rules are not tried: the Debian package prometheus has it.\n');
  else
    for (const args of [
      ['check', 'rules', 'alerts.yml'],
      ['check', 'config', 'prometheus.yml'],
      ['test', 'rules', ...files],
    ])
      it(`pass: promtool ${args.join(' ')}`, async () => {
        const program = runProgram(promtool, args, { cwd: directory });
        expect((await program.exited).code, program.stdout() + program.stderr()).to.equal(0);
      });
});
