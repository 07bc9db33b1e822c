// `npm run test:containers [-- --short]`: builds the image, brings docker-compose.yml up as it is, uses it by way of the edge, injects
// faults, and takes it down; see docs/deploy.md. With `--from REVISION` it upgrades that revision instead. Exits 1 if a check fails or work is
// lost, 2 if there is no container engine or the arguments are not understood.
import { table } from '../../../ops/table.ts';
import { Tenant } from '../drill/tenant.ts';
import { readArguments } from '../read-arguments.ts';
import type { CheckResult } from './check.ts';
import { checkConfinement } from './check-confinement.ts';
import { checkProfiles } from './check-profiles.ts';
import { checkSharedLimits } from './check-shared-limits.ts';
import { checkUse } from './check-use.ts';
import type { Compose } from './compose.ts';
import { type Deployment, prepareDeployment } from './deployment.ts';
import { watchEffects } from './effects.ts';
import { findEngine, howToGetAnEngine } from './engine.ts';
import { type Fault, faults } from './faults.ts';
import { prepareRevision, upgradeToThis } from './from-revision.ts';
import { describeOwnImage, type FoundImage, provideImages } from './images.ts';
import { type ProfiledDeployment, prepareProfiles } from './profiles.ts';
import { tryCommand } from './run-command.ts';
import { type FaultReport, isSound, runFault } from './run-fault.ts';
import { checkTrial, prepareTrial, type Trial } from './trial.ts';

const note = (line: string) => process.stderr.write(`${line}\n`);
const print = (lines: string[]) => process.stdout.write(`${lines.join('\n')}\n\n`);

const interrupted = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => interrupted.abort(new Error(`Ended by ${signal}.`)));

const { values } = readArguments({
  command: 'npm run test:containers',
  usage: `Usage: npm run test:containers [-- --short | --from REVISION]

Tries docker-compose.yml in a container engine, see docs/deploy.md.

  --short          injects no fault but the last three, which scale the service
                   and upgrade it
  --from REVISION  only upgrades the service of an earlier revision of git to
                   this one, while clients work
  --help           print this
`,
  options: { short: { type: 'boolean', default: false }, from: { type: 'string' } },
  names: [],
  kind: 'part',
});
process.exit(await main(values.short, values.from));

async function main(short: boolean, from?: string): Promise<number> {
  const found = await findEngine();
  if ('missing' in found) {
    note(`No container engine: ${found.missing}.\n\n${howToGetAnEngine}`);
    return 2;
  }
  if ((await tryCommand('openssl', ['version'])).code !== 0) {
    note('No openssl, which makes a certificate for the profile `tls`: the Debian package openssl has it.');
    return 2;
  }
  note(`Docker ${found.engine}, compose ${found.compose}.`);
  const images = await provideImages(note);
  printImages(images);
  if (from !== undefined) return (await tryDeployment(await prepareRevision(from), testUpgrade)) ? 0 : 1;
  const isUsable = await tryDeployment(await prepareDeployment(), (deployment) => test(deployment, short));
  if (interrupted.signal.aborted) return 1;
  const areProfilesUsable = await tryDeployment(await prepareProfiles(), testProfiles);
  if (interrupted.signal.aborted) return 1;
  const isTrialUsable = await tryDeployment(await prepareTrial(), testTrial);
  return isUsable && areProfilesUsable && isTrialUsable ? 0 : 1;
}

/** Tries a deployment, and takes it down. False if it is not as it should be, with the reason on standard error. */
async function tryDeployment<T extends Pick<Deployment, 'compose' | 'forget'>>(
  deployment: T,
  isAsItShouldBe: (deployment: T) => Promise<boolean>,
): Promise<boolean> {
  const interruption = Promise.withResolvers<never>();
  interrupted.signal.addEventListener('abort', () => interruption.reject(interrupted.signal.reason));
  try {
    interrupted.signal.throwIfAborted();
    return await Promise.race([isAsItShouldBe(deployment), interruption.promise]);
  } catch (error) {
    note(error instanceof Error ? (error.stack ?? error.message) : String(error));
    note((await deployment.compose.try('logs', '--tail', '40')).stdout);
    return false;
  } finally {
    note('Taking it down …');
    await deployment.compose.try('down', '--volumes', '--timeout', '20');
    await deployment.forget();
  }
}

async function test(deployment: Deployment, short: boolean): Promise<boolean> {
  const { compose, url } = deployment;
  note('Building …');
  const buildSeconds = await secondsOf(() => compose.run('build', '--quiet'));
  printImages([await describeOwnImage()]);
  print([`Built in ${buildSeconds} s, healthy at ${url} after ${await bringUp(compose)} s.`]);

  const checks = [...(await checkConfinement(deployment)), ...(await checkUse(deployment))];
  printChecks(checks);
  return (await testFaults(deployment, short)) && checks.every(({ ok }) => ok);
}

async function testUpgrade(deployment: Deployment): Promise<boolean> {
  note('Building …');
  await deployment.compose.run('build', '--quiet');
  print([`The earlier revision is healthy at ${deployment.url} after ${await bringUp(deployment.compose)} s.`]);
  const reports = await injectFaults(deployment, [upgradeToThis]);
  printFaults(reports);
  return reports.every(isSound);
}

async function testProfiles(deployment: ProfiledDeployment): Promise<boolean> {
  print([`With the profiles tls, store, codec and backup healthy at ${deployment.url} after ${await bringUp(deployment.compose)} s.`]);
  const checks = await checkProfiles(deployment);
  printChecks(checks);
  return checks.every(({ ok }) => ok);
}

async function testTrial(trial: Trial): Promise<boolean> {
  print([`With nothing set healthy at ${trial.url} after ${await bringUp(trial.compose)} s.`]);
  const checks = await checkTrial(trial, () => bringUp(trial.compose));
  printChecks(checks);
  return checks.every(({ ok }) => ok);
}

async function bringUp(compose: Compose): Promise<number> {
  note('Bringing it up …');
  return await secondsOf(async () => {
    await compose.run('up', '--detach');
    await compose.waitUntilHealthy();
  });
}

async function testFaults(deployment: Deployment, short: boolean): Promise<boolean> {
  const reports = await injectFaults(deployment, short ? faults.slice(-3) : faults);
  const limits = await checkSharedLimits(deployment);
  printFaults(reports);
  printChecks([limits]);
  return limits.ok && reports.every(isSound);
}

async function injectFaults({ compose, url }: Deployment, chosen: Fault[]): Promise<FaultReport[]> {
  await watchEffects(compose);
  const tenant = await Tenant.create(url);
  const reports: FaultReport[] = [];
  for (const fault of chosen) {
    note(`${fault.name} …`);
    const report = await runFault(fault, compose, tenant);
    note(`  ${isSound(report) ? 'sound' : JSON.stringify(report)}`);
    reports.push(report);
  }
  return reports;
}

async function secondsOf(work: () => Promise<unknown>): Promise<number> {
  const startedAt = performance.now();
  await work();
  return Math.round((performance.now() - startedAt) / 1_000);
}

function printImages(images: FoundImage[]): void {
  print(table([['IMAGE', 'MB', 'WHAT IT IS'], ...images.map(({ name, megabytes, origin }) => [name, megabytes, origin])]));
}

function printChecks(checks: CheckResult[]): void {
  print(table([['CHECK', '', 'SEEN'], ...checks.map(({ name, ok, seen }) => [name, ok ? 'ok' : 'WRONG', seen])]));
}

function printFaults(reports: FaultReport[]): void {
  const head = ['FAULT', 'JOBS', 'LONGEST WAIT (S)', 'RECOVERY (S)', 'UNFINISHED', 'LOST', 'TWICE', 'LEDGER', ''];
  const rows = reports.map((report) => {
    const { name, jobs, longestWaitSeconds, recoverySeconds, unfinished, lost, twice, ledgerSound } = report;
    const ledger = ledgerSound ? 'sound' : 'off';
    return [name, jobs, longestWaitSeconds, recoverySeconds, unfinished, lost, twice, ledger, isSound(report) ? 'ok' : 'WRONG'];
  });
  print(table([head, ...rows]));
}
