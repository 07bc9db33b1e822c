import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as delay } from 'node:timers/promises';
import { parse } from 'yaml';
import { inheritedEnvironment } from '../../../base/config/local.ts';
import { type CheckResult, check, same } from '../containers/check.ts';
import { isReached } from '../containers/check-confinement.ts';
import type { Cluster } from './cluster.ts';
import { url } from './install.ts';
import type { LoadReport } from './load.ts';

/** The values of the update. */
const updated = { config: { LOG_LEVEL: 'warn' }, api: { maxReplicas: 3 } };

/** What is tried in a cluster in which the chart is installed. `upgrade` installs it again with other values. */
export async function checkCluster(
  cluster: Cluster,
  upgrade: (values: object) => Promise<void>,
  note: (line: string) => void,
): Promise<CheckResult[]> {
  const inSheaf = (...args: string[]) => cluster.kubectl('-n', 'sheaf', ...args);
  const attempt = (name: string, see: () => Promise<string>) => {
    note(`${name} …`);
    return check(name, see);
  };
  return [
    await attempt('npm run demo', async () => {
      const { documents, jobs, search } = JSON.parse(await runHere(cluster, 'docs/examples/demo/main.ts', '--json'));
      same('searches that find nothing', search.filter(({ best }: { best: unknown }) => best === null).length, 0);
      return `${documents.length} documents, ${jobs.length} jobs, ${search.length} searches by TLS, documents in the bucket`;
    }),
    await attempt('addresses and a silent stream through the ingress', () => checkIngress(cluster)),
    await attempt('network policies', () => checkPolicies(cluster)),
    await attempt('a rolling update under load, which turns on an autoscaler', async () => {
      const seen = await underLoad(cluster, () => upgrade(updated));
      const raised = ['get', 'events', '--field-selector=reason=SuccessfulRescale,involvedObject.name=sheaf-api', '--output=name'];
      same('times that there were too few pods', await inSheaf(...raised), '');
      return seen;
    }),
    await attempt('a node is emptied under load', () =>
      underLoad(cluster, async () => {
        await cluster.kubectl('drain', 'node3', '--delete-emptydir-data', '--force', '--timeout=300s');
        await cluster.kubectl('uncordon', 'node3');
        await waitForPods(cluster);
      }),
    ),
    await attempt('a worker is killed', () =>
      underLoad(cluster, async () => {
        const [pod = ''] = (await inSheaf('get', 'pods', '-l', 'app.kubernetes.io/name=sheaf-worker', '--output=name')).split('\n');
        await inSheaf('delete', pod, '--force', '--grace-period=0');
        await waitForPods(cluster);
      }),
    ),
    await attempt('workers follow the age of the oldest job, by KEDA', () => checkScaling(cluster, upgrade)),
    await attempt('a backup as by the schedule, its rehearsal, and a restore', () => restore(cluster)),
    await attempt('a node is lost', async () => {
      const load = await startLoad(cluster);
      cluster.loseNode('node3');
      const isReady = ['get', 'node', 'node3', '--output=jsonpath={.status.conditions[?(@.type=="Ready")].status}'];
      await cluster.until('the loss is found', async () => (await cluster.kubectl(...isReady)) !== 'True');
      const { requests, failed, jobs } = await load.stop();
      const then = await underLoad(cluster, () => delay(10_000));
      await waitForJobs(cluster, jobs);
      return `${failed.length} of ${requests} requests failed until it was found, and no job; then ${then}`;
    }),
  ];
}

/** Unless it is told, Envoy ends a response after 15 seconds, and keeps the addresses that a client has written. */
async function checkIngress(cluster: Cluster): Promise<string> {
  const load = await startLoad(cluster);
  await delay(40_000);
  const { streams, failed, address } = await load.stop();
  same('the address of the client', address, '10.10.0.1');
  same('requests that failed', failed, []);
  same('times that the stream was opened in 40 s', streams, 1);
  return 'the client has its own address, and the stream was not ended in 40 s';
}

/** More jobs than two workers do, until there are more workers; then as it was. */
async function checkScaling(cluster: Cluster, upgrade: (values: object) => Promise<void>): Promise<string> {
  const inSheaf = (...args: string[]) => cluster.kubectl('-n', 'sheaf', ...args);
  // KEDA refuses to be a second autoscaler.
  await upgrade({ ...updated, worker: { maxReplicas: null } });
  await upgrade({ ...updated, worker: { keda: 'http://prometheus.monitoring:9090', queueSeconds: 5, maxReplicas: 3 } });
  await inSheaf('wait', '--for=condition=Ready', '--timeout=120s', 'scaledobject/sheaf-worker');
  const load = await startLoad(cluster, 40);
  const startedAt = performance.now();
  const count = async () => Number(await inSheaf('get', 'deploy', 'sheaf-worker', '--output=jsonpath={.spec.replicas}'));
  await cluster.until('there are more workers', async () => (await count()) > 2).finally(() => load.stop());
  const seconds = Math.round((performance.now() - startedAt) / 1_000);
  await upgrade(updated);
  return `${await count()} workers after ${seconds} s of jobs that came faster than two do them`;
}

async function waitForPods(cluster: Cluster): Promise<void> {
  for (const name of ['api', 'ai', 'worker'])
    await cluster.kubectl('-n', 'sheaf', 'rollout', 'status', `deploy/sheaf-${name}`, '--timeout=300s');
}

/** As docs/kubernetes.md has it. */
async function restore(cluster: Cluster): Promise<string> {
  const inSheaf = (...args: string[]) => cluster.kubectl('-n', 'sheaf', ...args);
  const scale = (replicas: number) => inSheaf('scale', 'deploy/sheaf-api', 'deploy/sheaf-worker', `--replicas=${replicas}`);
  await inSheaf('create', 'job', '--from=cronjob/sheaf-backup', 'backup-now');
  await inSheaf('wait', '--for=condition=complete', '--timeout=300s', 'job/backup-now');
  const target = /^(s3:\S+) holds /m.exec(await inSheaf('logs', 'job/backup-now'))?.[1] ?? '';
  const rehearsal = await inSheaf('exec', 'deploy/sheaf-api', '--', 'node', 'ops/main.ts', 'restore', target, '--rehearse');
  if (!rehearsal.includes('the ledger is sound')) throw new Error(rehearsal);
  await scale(0);
  await inSheaf('wait', '--for=delete', 'pod', '--timeout=2m', '-l', 'app.kubernetes.io/name in (sheaf-api, sheaf-worker)');
  const job = parse(readFileSync('ops/deploy/kubernetes/restore.yaml', 'utf8'));
  job.spec.template.spec.containers[0].command.splice(-1, 1, target, '--replace');
  await cluster.apply(JSON.stringify(job));
  await inSheaf('wait', '--for=condition=complete', '--timeout=300s', 'job/sheaf-restore');
  const [seen = ''] = /^Restored .*$/m.exec(await inSheaf('logs', 'job/sheaf-restore')) ?? [];
  await scale(2);
  await waitForPods(cluster);
  return seen;
}

/** Runs a program of the project where it reaches the service as clients do. */
async function runHere(cluster: Cluster, ...args: string[]): Promise<string> {
  const variables = [`SHEAF_URL=${url}`, `NODE_EXTRA_CA_CERTS=${cluster.authority}`];
  return await cluster.at('control', 'env', `--chdir=${process.cwd()}`, ...variables, process.execPath, ...args);
}

async function checkPolicies(cluster: Cluster): Promise<string> {
  const addressOf = (namespace: string, label: string) =>
    cluster.kubectl('-n', namespace, 'get', 'pod', '-l', label, '--output=jsonpath={.items[0].status.podIP}');
  const [ai, api] = await Promise.all(['ai', 'api'].map((name) => addressOf('sheaf', `app.kubernetes.io/name=sheaf-${name}`)));
  const database = await addressOf('outside', 'app=postgres');
  const expected: [namespace: string, pod: string, target: string, reached: boolean][] = [
    ['projectcontour', 'pod/probe', `${api}:3000`, true],
    ['projectcontour', 'pod/probe', `${api}:9464`, false],
    ['projectcontour', 'pod/probe', `${ai}:8000`, false],
    ['monitoring', 'pod/probe', `${api}:9464`, true],
    ['monitoring', 'pod/probe', `${api}:3000`, false],
    ['stranger', 'pod/probe', `${api}:3000`, false],
    ['stranger', 'pod/probe', `${database}:5432`, true],
    ['sheaf', 'deploy/sheaf-api', `${ai}:8000`, true],
    ['sheaf', 'deploy/sheaf-ai', `${database}:5432`, false],
    ['sheaf', 'deploy/sheaf-ai', '10.10.0.1:6443', false],
  ];
  for (const [namespace, pod, target, reached] of expected) {
    const exec = (_: string, ...command: string[]) => cluster.try('-n', namespace, 'exec', pod, '--', ...command);
    same(`${namespace} ${pod} reaches ${target}`, await isReached({ exec }, pod, target), reached);
  }
  return `${expected.length} connections, ${expected.filter(([, , , reached]) => !reached).length} of them refused as they should be`;
}

/** Does something while a client asks and starts jobs. No request may fail, and every job has to succeed. */
async function underLoad(cluster: Cluster, work: () => Promise<void>): Promise<string> {
  const load = await startLoad(cluster);
  const startedAt = performance.now();
  await work().finally(() => delay(5_000));
  const seconds = Math.round((performance.now() - startedAt) / 1_000);
  const { requests, failed, jobs } = await load.stop();
  if (failed.length > 0) throw new Error(`${failed.length} of ${requests} requests failed:\n${failed.slice(0, 5).join('\n')}`);
  await waitForJobs(cluster, jobs);
  return `0 of ${requests} requests failed in ${seconds} s, ${jobs.length} jobs succeeded`;
}

async function waitForJobs(cluster: Cluster, jobs: string[]): Promise<void> {
  const sql = `select count(*) from job where status = 'succeeded' and id::text = any(string_to_array('${jobs}', ','))`;
  const psql = ['psql', '--username=postgres', '--dbname=sheaf', '--tuples-only', `--command=${sql}`];
  const count = async () => Number(await cluster.kubectl('-n', 'outside', 'exec', 'postgres', '--', ...psql));
  await cluster.until('every job has succeeded', async () => (await count()) === jobs.length, 180);
}

async function startLoad(cluster: Cluster, jobsEachSecond = 1): Promise<{ stop(): Promise<LoadReport> }> {
  const env = { ...inheritedEnvironment(), NODE_EXTRA_CA_CERTS: cluster.authority };
  const [command = '', ...args] = cluster.command(
    'control',
    process.execPath,
    join(import.meta.dirname, 'load.ts'),
    url,
    `${jobsEachSecond}`,
  );
  const child = spawn(command, args, { env, stdio: ['pipe', 'pipe', 'inherit'] });
  const lines = createInterface(child.stdout);
  await once(lines, 'line');
  return {
    async stop() {
      const last = once(lines, 'line');
      child.stdin.end();
      return JSON.parse((await last)[0]);
    },
  };
}
