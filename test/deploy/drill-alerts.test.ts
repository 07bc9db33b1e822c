import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { Gauge, Registry } from 'prom-client';
import { parse } from 'yaml';
import { findFreePorts } from '../../local/ports.ts';
import { createSupervisor } from '../../local/supervise.ts';
import { serveMetrics } from '../../telemetry/serve-metrics.ts';
import { startAlertWatch } from '../../tools/drill/alert-watch.ts';
import { type AlertName, compareAlerts, expectedAlerts } from '../../tools/drill/expected-alerts.ts';
import { type FaultReport, hasPassed } from '../../tools/drill/fault.ts';
import { faults } from '../../tools/drill/faults/index.ts';
import { shortenRules } from '../../tools/drill/shorten-rules.ts';
import { makeTestDirectory, removeTestDirectory } from '../support/directories.ts';
import { findInstalled } from '../support/installed.ts';
import { until } from '../support/processes.ts';
import { startTcpProxy } from '../support/tcp-proxy.ts';
import { useApi } from '../support/use-api.ts';

interface Rule {
  alert: AlertName;
  expr: string;
  for: string;
}

/** Four scrapes, and the time for which an alert has to hold before it fires. */
const quietMs = 12_000;
const scrapeMs = 3_000;
const shipped = readFileSync('deploy/monitoring/alerts.yml', 'utf8');
const rulesOf = (yaml: string): Rule[] => parse(yaml).groups.flatMap((group: { rules: Rule[] }) => group.rules);

describe('The alerts of the drill', () => {
  it('are told for every fault, and are alerts that there are', () => {
    expect(Object.keys(expectedAlerts)).to.deep.equal(faults.map(({ name }) => name));
    const names = rulesOf(shipped).map(({ alert }) => alert);
    for (const [fault, { must, may }] of Object.entries(expectedAlerts)) expect(names, fault).to.include.members([...must, ...may]);
  });

  it('are those that did not fire, and those that nobody expects', () => {
    expect(compareAlerts('ai-500', ['SheafJobsFail', 'SheafProcessDown'])).to.deep.equal({
      fired: ['SheafJobsFail', 'SheafProcessDown'],
      missing: ['SheafAiFails'],
      unexpected: ['SheafProcessDown'],
    });
  });

  it('decide about the end of a drill only if they are asked for', () => {
    const sound = { name: 'ai-500', runs: 1, lost: 0, stuck: 0, duplicated: 0, ledgerOff: 0, orphans: 0, recoverySeconds: 1 };
    const reports: [passes: boolean, FaultReport][] = [
      [true, { ...sound, alerts: compareAlerts('ai-500', ['SheafAiFails', 'SheafJobsFail']) }],
      [false, { ...sound, alerts: compareAlerts('ai-500', []) }],
      [false, { ...sound, alerts: compareAlerts('ai-500', ['SheafAiFails', 'SheafProcessDown']) }],
      [false, sound],
    ];
    for (const [passes, report] of reports) {
      expect(hasPassed([sound, report], { alerts: false })).to.equal(true);
      expect(hasPassed([report], { alerts: true }), JSON.stringify(report.alerts)).to.equal(passes);
      expect(hasPassed([{ ...report, stuck: 1 }], { alerts: true })).to.equal(false);
    }
  });

  it('come from the shipped rules, whose times are shortened and nothing else', () => {
    const short = rulesOf(shortenRules(shipped));
    expect(short.map(({ alert }) => alert)).to.deep.equal(rulesOf(shipped).map(({ alert }) => alert));
    for (const [index, rule] of rulesOf(shipped).entries()) {
      const withoutTimes = (expr: string) => expr.replaceAll(/\[\d+[sm]\]/g, '[]').replaceAll(/> \d+/g, '>');
      expect(withoutTimes(short[index]?.expr ?? ''), rule.alert).to.equal(withoutTimes(rule.expr));
      expect(short[index]?.for, rule.alert).to.match(/^[0-5](\.\d+)?s$/);
    }
  });

  it('are not shortened without a word if a threshold has another value', () => {
    expect(() => shortenRules(shipped.replace('(sheaf_outbox_oldest_seconds) > 120', '(sheaf_outbox_oldest_seconds) > 240'))).to.throw(
      'SheafOutboxLate no longer has its threshold > 120.',
    );
  });
});

if (findInstalled('prometheus')) {
  describe('A Prometheus of the drill', () => {
    let port = 0;
    const { api } = useApi({
      env: async () => {
        [port = 0] = await findFreePorts(1);
        return { METRICS_PORT: String(port) };
      },
    });

    it('sees what happens to the service: nothing while it is well, and that its database is away', async () => {
      const url = new URL(api.database.url);
      const proxy = await startTcpProxy({ host: url.hostname, port: Number(url.port) });
      url.host = `127.0.0.1:${proxy.port}`;
      await api.stack.restart('api', { DATABASE_URL: url.href });
      const directory = makeTestDirectory();
      const supervisor = createSupervisor();
      try {
        const targets = { 'sheaf-api': port, 'sheaf-worker': port, 'sheaf-ai': port };
        const watch = await startAlertWatch(supervisor, { directory, targets });
        const firedFor = async (ms: number) => (await watch?.listFired(Date.now() - ms)) ?? [];
        const watchedSince = Date.now();
        // What fires of a service that is well fires all the time. A scrape that was late once does not.
        await until(async () => Date.now() - watchedSince > quietMs && (await firedFor(quietMs)).length === 0);
        await proxy.cut();
        // The same scrapes tell both: those that fail say nothing of the database.
        const isAwayAlone = async () => {
          const fired = await firedFor(scrapeMs);
          return fired.includes('SheafDatabaseAway') && !fired.includes('SheafProcessDown');
        };
        await until(isAwayAlone).finally(proxy.mend);
      } finally {
        await supervisor.close();
        removeTestDirectory(directory);
        await api.stack.restart('api');
        await proxy.stop();
      }
    });

    it('is quiet only when no alert is about to fire', async () => {
      const registry = new Registry();
      const outbox = new Gauge({ name: 'sheaf_outbox_oldest_seconds', help: 'As the API has it', registers: [registry] });
      const { port, close } = await serveMetrics({ host: '127.0.0.1', port: 0 }, { registry });
      const directory = makeTestDirectory();
      const supervisor = createSupervisor();
      try {
        outbox.set(0);
        const targets = { 'sheaf-api': port, 'sheaf-worker': port, 'sheaf-ai': port };
        const watch = await startAlertWatch(supervisor, { directory, targets });
        expect(await watch?.untilQuiet()).to.deep.equal([]);
        const startedAt = Date.now();
        // It fires five seconds after a scrape.
        outbox.set(10);
        let isQuiet = false;
        const quiet = watch?.untilQuiet().then((left) => {
          isQuiet = true;
          return left;
        });
        await until(async () => (await watch?.listFired(startedAt))?.length === 1);
        expect(isQuiet, 'quiet before the alert fired').to.equal(false);
        outbox.set(0);
        expect(await quiet).to.deep.equal([]);
        expect(await watch?.listFired(Date.now() - 4_000)).to.deep.equal([]);
      } finally {
        await supervisor.close();
        await close();
        removeTestDirectory(directory);
      }
    });

    it('tells what fired since a moment, and not what fired before', async () => {
      const registry = new Registry();
      const outbox = new Gauge({ name: 'sheaf_outbox_oldest_seconds', help: 'As the API has it', registers: [registry] });
      const { port, close } = await serveMetrics({ host: '127.0.0.1', port: 0 }, { registry });
      const [nobody = 0] = await findFreePorts(1);
      const directory = makeTestDirectory();
      const supervisor = createSupervisor();
      try {
        outbox.set(10);
        const startedAt = Date.now();
        const targets = { 'sheaf-api': port, 'sheaf-worker': port, 'sheaf-ai': nobody };
        const watch = await startAlertWatch(supervisor, { directory, targets });
        const both = ['SheafOutboxLate', 'SheafProcessDown'];
        await until(async () => (await watch?.listFired(startedAt))?.length === 2);
        expect(await watch?.listFired(startedAt)).to.deep.equal(both);
        outbox.set(0);
        await until(async () => (await watch?.listFired(Date.now() - 6_000))?.length === 1);
        expect(await watch?.listFired(Date.now() - 6_000)).to.deep.equal(['SheafProcessDown']);
        expect(await watch?.listFired(startedAt)).to.deep.equal(both);
      } finally {
        await supervisor.close();
        await close();
        removeTestDirectory(directory);
      }
    });
  });
}
