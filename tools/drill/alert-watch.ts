import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { stringify } from 'yaml';
import { findFreePorts } from '../../local/ports.ts';
import type { Supervisor } from '../../local/supervise.ts';
import { findInstalled } from '../../test/support/installed.ts';
import type { AlertName } from './expected-alerts.ts';
import { shortenRules } from './shorten-rules.ts';

/** A Prometheus that scrapes the service and evaluates its alert rules, with all times shortened. */
export interface AlertWatch {
  /**
   * Waits until what has happened so far makes no alert fire any more, so that the next one has another cause; for ten seconds at least, and
   * a minute and a half at most. Returns those that fire still, or are about to.
   */
  untilQuiet(): Promise<AlertName[]>;
  /** The alerts that fired at any time since then, in milliseconds since 1970. */
  listFired(since: number): Promise<AlertName[]>;
}

interface AlertWatchOptions {
  /** Where it keeps its data; made if absent. */
  directory: string;
  /** The ports of the metrics by the names of the jobs in deploy/monitoring/prometheus.yml. */
  targets: Record<string, number>;
}

const rulesFile = new URL('../../deploy/monitoring/alerts.yml', import.meta.url);
/** The sweep comes once a minute. */
const quietLimitMs = 90_000;
/** The API shows what it read of the database for five seconds, a scrape comes every three, and then a rule has to see it. */
const settledMs = 9_000;

/** Starts Prometheus, and waits until it is ready. It ends with the supervisor. Returns undefined if it is not installed. */
export async function startAlertWatch(supervisor: Supervisor, { directory, targets }: AlertWatchOptions): Promise<AlertWatch | undefined> {
  const program = findInstalled('prometheus');
  if (!program) return undefined;
  const [port = 0] = await findFreePorts(1);
  mkdirSync(directory, { recursive: true });
  writeFileSync(join(directory, 'alerts.yml'), shortenRules(readFileSync(rulesFile, 'utf8')));
  writeFileSync(join(directory, 'prometheus.yml'), configuration(targets));
  const running = supervisor.run({
    name: 'Prometheus',
    command: program,
    args: [
      `--config.file=${join(directory, 'prometheus.yml')}`,
      `--storage.tsdb.path=${join(directory, 'data')}`,
      `--web.listen-address=127.0.0.1:${port}`,
    ],
    logFile: join(directory, 'prometheus.log'),
  });
  const url = `http://127.0.0.1:${port}`;
  // Before the first scrape of a target its process counts as gone.
  const isReady = async () => (await ask(url, 'up').catch(() => [])).length === Object.keys(targets).length;
  await supervisor.waitUntilReady(running, isReady, 60_000);
  return watch(url);
}

function configuration(targets: Record<string, number>): string {
  return stringify({
    // Without a database the API responds to a scrape after two seconds.
    global: { scrape_interval: '3s', scrape_timeout: '3s', evaluation_interval: '1s' },
    rule_files: ['alerts.yml'],
    scrape_configs: Object.entries(targets).map(([job, port]) => ({
      job_name: job,
      static_configs: [{ targets: [`127.0.0.1:${port}`] }],
    })),
  });
}

/** The labels of each series that a query finds now. */
async function ask(url: string, query: string): Promise<Record<string, string>[]> {
  const response = await fetch(`${url}/api/v1/query?${new URLSearchParams({ query })}`);
  if (!response.ok) throw new Error(`Prometheus refuses ${query}: ${response.status}`);
  const { data } = (await response.json()) as { data: { result: { metric: Record<string, string> }[] } };
  return data.result.map(({ metric }) => metric);
}

function watch(url: string): AlertWatch {
  async function list(states: string, since: number): Promise<AlertName[]> {
    const seconds = Math.max(1, Math.ceil((Date.now() - since) / 1_000));
    const found = await ask(url, `group by (alertname) (last_over_time(ALERTS{alertstate=~"${states}"}[${seconds}s]))`);
    return found.map(({ alertname }) => alertname as AlertName).sort();
  }
  return {
    listFired: (since) => list('firing', since),
    async untilQuiet() {
      for (const calledAt = Date.now(); ; await delay(1_000)) {
        const now = Date.now();
        // An alert is pending until its `for` has passed: its cause may be over before it fires.
        const left = await list('pending|firing', now - settledMs);
        if (now - calledAt > (left.length === 0 ? settledMs : quietLimitMs)) return left;
      }
    },
  };
}
