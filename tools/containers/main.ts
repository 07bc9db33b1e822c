// `npm run test:containers [-- --short | --soak MINUTES]`: builds the image, brings docker-compose.yml up as it is, uses it by way of the
// edge, injects faults or lets clients work for a time, and takes it down; see docs/deploy.md. Exits 1 if a check fails or work is lost, 2
// if there is no container engine or the arguments are not understood.
import { table } from '../../ops/table.ts';
import { Tenant } from '../drill/tenant.ts';
import { type Arguments, readArguments, usage } from './arguments.ts';
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
import { describeOwnImage, type FoundImage, provideImages } from './images.ts';
import { type ProfiledDeployment, prepareProfiles } from './profiles.ts';
import { tryCommand } from './run-command.ts';
import { type FaultReport, isSound, runFault } from './run-fault.ts';
import { isSteady, type SoakReport, soak } from './soak.ts';

const note = (line: string) => process.stderr.write(`${line}\n`);
const print = (lines: string[]) => process.stdout.write(`${lines.join('\n')}\n\n`);

const interrupted = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => interrupted.abort(new Error(`Ended by ${signal}.`)));

process.exit(await main(process.argv.slice(2)));

async function main(args: string[]): Promise<number> {
  if (args.includes('--help')) {
    process.stdout.write(`${usage}\n`);
    return 0;
  }
  const wanted = readArguments(args);
  if (!wanted) {
    note(usage);
    return 2;
  }
  const found = await findEngine();
  if ('missing' in found) {
    note(`No container engine: ${found.missing}.\n\n${howToGetAnEngine}`);
    return 2;
  }
  if (wanted.soakMinutes === undefined && (await tryCommand('openssl', ['version'])).code !== 0) {
    note('No openssl, which makes a certificate for the profile `tls`: the Debian package openssl has it.');
    return 2;
  }
  note(`Docker ${found.engine}, compose ${found.compose}.`);
  const images = await provideImages(note);
  printImages(images);
  const isUsable = await tryDeployment(await prepareDeployment(), (deployment) => test(deployment, wanted));
  if (wanted.soakMinutes !== undefined || interrupted.signal.aborted) return isUsable ? 0 : 1;
  const areProfilesUsable = await tryDeployment(await prepareProfiles(), testProfiles);
  return isUsable && areProfilesUsable ? 0 : 1;
}

/** Tries a deployment, and takes it down. False if it is not as it should be, with the reason on standard error. */
async function tryDeployment<T extends Deployment>(deployment: T, isAsItShouldBe: (deployment: T) => Promise<boolean>): Promise<boolean> {
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

async function test(deployment: Deployment, { short, soakMinutes }: Arguments): Promise<boolean> {
  const { compose, url } = deployment;
  note('Building …');
  const buildSeconds = await secondsOf(() => compose.run('build', '--quiet'));
  printImages([await describeOwnImage()]);
  print([`Built in ${buildSeconds} s, healthy at ${url} after ${await bringUp(compose)} s.`]);

  const checks = [...(await checkConfinement(deployment)), ...(await checkUse(deployment))];
  printChecks(checks);
  const isWorkSound = soakMinutes === undefined ? testFaults(deployment, short) : testSteadiness(deployment, soakMinutes);
  return (await isWorkSound) && checks.every(({ ok }) => ok);
}

async function testProfiles(deployment: ProfiledDeployment): Promise<boolean> {
  print([`With the profiles tls, store and codec healthy at ${deployment.url} after ${await bringUp(deployment.compose)} s.`]);
  const checks = await checkProfiles(deployment);
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

async function testSteadiness({ compose, url }: Deployment, minutes: number): Promise<boolean> {
  note(`Under load for ${minutes} min …`);
  const report = await soak(compose, await Tenant.create(url), minutes, note);
  print((await compose.run('ps', '--all', '--format', 'table {{.Service}}\t{{.Status}}')).trimEnd().split('\n'));
  printSoak(report);
  return isSteady(report);
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

function printSoak(report: SoakReport): void {
  const head = ['CONTAINER', 'MB AT THE BEGINNING', 'AFTER A TENTH', 'AT THE END', 'AT MOST', 'RESTARTS', 'LOG (MB)', ''];
  const rows = report.containers.map(({ service, memoryMb: { begin, tenth, end, most }, restarts, logMb, wrong }) => {
    return [service, begin, tenth, end, most, restarts, logMb, wrong.join(', ') || 'ok'];
  });
  print(table([head, ...rows]));
  const { jobs, succeeded, unfinished, lost, twice, notFound, ledgerSound } = report;
  const searchable = report.searchableAfterSeconds.toSorted((a, b) => a - b);
  print(
    table([
      ['WORK', 'SEEN'],
      ['jobs accepted', jobs],
      ['jobs that succeeded', succeeded],
      ['lost, unfinished, twice', `${lost}, ${unfinished}, ${twice}`],
      ['longest wait for an answer (s)', rounded(report.longestWaitSeconds)],
      ['slowest job, from its creation to its end (s)', rounded(report.slowestJobSeconds)],
      ['documents found after their upload, not found', `${searchable.length}, ${notFound}`],
      ['half of them after (s)', rounded(searchable[searchable.length >> 1])],
      ['all of them after (s)', rounded(searchable.at(-1))],
      ['ledger', ledgerSound ? 'sound' : 'off'],
    ]),
  );
}

function rounded(seconds = Number.NaN): number {
  return Math.round(seconds * 100) / 100;
}
