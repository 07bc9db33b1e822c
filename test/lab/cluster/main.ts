// `npm run test:cluster`: a cluster of three nodes on this machine, the chart installed in it as docs/kubernetes.md says, and what is tried
// there. Exits 1 if a check fails, 2 if something that it needs is missing.
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createSupervisor } from '../../../ops/local/supervise.ts';
import { table } from '../../../ops/table.ts';
import { findGoProgram } from '../../support/go-program.ts';
import { helm } from '../../support/helm.ts';
import type { CheckResult } from '../containers/check.ts';
import { provideImage, provideImages } from '../containers/images.ts';
import { runCommand } from '../containers/run-command.ts';
import { readArguments } from '../read-arguments.ts';
import { checkCluster } from './checks.ts';
import { Cluster } from './cluster.ts';
import { findMissing } from './find-missing.ts';
import { installChart, makeSecrets } from './install.ts';
import { buildPrograms, pause } from './kubernetes.ts';
import { prepareOutside } from './prepare-outside.ts';
import { clusterRecipes } from './recipes.ts';

const note = (line: string) => process.stderr.write(`${new Date().toISOString().slice(11, 19)} ${line}\n`);
readArguments({
  command: 'npm run test:cluster',
  usage: `Usage: npm run test:cluster

Installs ops/deploy/kubernetes in a cluster that runs on this machine alone, and
tries it there: see docs/kubernetes.md. It needs root, Debian, Docker and Go; the
first time it builds Kubernetes, for half an hour.
`,
  options: {},
  names: [],
  kind: 'part',
});
const missing = await findMissing();
if (missing.length > 0) {
  note(`This is missing: ${missing.join(', ')}.`);
  process.exit(2);
}
process.exit(await main());

async function main(): Promise<number> {
  const programs = await buildPrograms(note);
  const outside = readFileSync(join(import.meta.dirname, 'outside.yaml'), 'utf8');
  const images = (await provideImages(note)).map(({ name }) => name).filter((name) => outside.includes(name));
  for (const [name, recipe] of Object.entries(clusterRecipes)) {
    await provideImage(name, recipe, note);
    images.push(name);
  }
  note('Building the images …');
  await runCommand('docker', ['compose', '--project-name', 'sheaf-cluster', 'build', '--quiet', 'api', 'ai']);
  const directory = mkdtempSync(join(tmpdir(), 'sheaf-cluster-'));
  const cluster = new Cluster(directory, programs);
  const interruption = Promise.withResolvers<never>();
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => interruption.reject(new Error(`Ended by ${signal}.`)));
  try {
    const results = await Promise.race([test(cluster, directory, images), interruption.promise]);
    process.stdout.write(
      `${table([['CHECK', '', 'SEEN'], ...results.map(({ name, ok, seen }) => [name, ok ? 'ok' : 'WRONG', seen])]).join('\n')}\n`,
    );
    return results.every(({ ok }) => ok) ? 0 : 1;
  } catch (error) {
    note(error instanceof Error ? (error.stack ?? error.message) : String(error));
    note((await cluster.try('get', 'pods', '--all-namespaces', '--output=wide')).stdout);
    return 1;
  } finally {
    await cluster.stop();
    rmSync(directory, { recursive: true, force: true });
  }
}

async function test(cluster: Cluster, directory: string, images: string[]): Promise<CheckResult[]> {
  const own = ['sheaf:0.3.0', 'sheaf-ai:0.3.0', pause];
  note('Starting the cluster …');
  await cluster.start();
  const files = join(directory, 'install');
  for (const number of [1, 2, 3]) {
    await cluster.addNode(number, number === 1 ? [...own, ...images] : own);
    note(`  node${number} is ready`);
    if (number > 1) continue;
    // While there is no other node, so that all of it is where its images are.
    await makeSecrets(cluster, files);
    await prepareOutside(cluster);
  }
  const program = await findHelm(files);
  note('Installing the chart …');
  await installChart(cluster, program, files);
  return await checkCluster(cluster, (values) => installChart(cluster, program, files, values), note);
}

async function findHelm(directory: string): Promise<string> {
  const supervisor = createSupervisor();
  mkdirSync(directory, { recursive: true });
  return await findGoProgram(helm, supervisor, directory).finally(() => supervisor.close());
}
