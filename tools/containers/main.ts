// `npm run test:containers [-- --short]`: builds the image, brings docker-compose.yml up as it is, uses it by way of the edge, injects
// faults, and takes it down; see docs/deploy.md. Exits 1 if a check fails or work is lost, 2 if there is no container engine or the
// arguments are not understood.
import { table } from '../../ops/table.ts';
import { Tenant } from '../drill/tenant.ts';
import type { CheckResult } from './check.ts';
import { checkConfinement } from './check-confinement.ts';
import { checkSharedLimits } from './check-shared-limits.ts';
import { checkUse } from './check-use.ts';
import { type Deployment, prepareDeployment } from './deployment.ts';
import { watchEffects } from './effects.ts';
import { findEngine, howToGetAnEngine } from './engine.ts';
import { type Fault, faults } from './faults.ts';
import { describeOwnImage, type FoundImage, provideImages } from './images.ts';
import { type FaultReport, isSound, runFault } from './run-fault.ts';

const usage = `Usage: npm run test:containers [-- --short]

  --short   injects no fault but the last two, which scale the service`;
const note = (line: string) => process.stderr.write(`${line}\n`);
const print = (lines: string[]) => process.stdout.write(`${lines.join('\n')}\n\n`);

process.exit(await main(process.argv.slice(2)));

async function main(args: string[]): Promise<number> {
  if (args.includes('--help')) {
    process.stdout.write(`${usage}\n`);
    return 0;
  }
  if (args.some((arg) => arg !== '--short')) {
    note(usage);
    return 2;
  }
  const chosen = args.includes('--short') ? faults.slice(-2) : faults;
  const found = await findEngine();
  if ('missing' in found) {
    note(`No container engine: ${found.missing}.\n\n${howToGetAnEngine}`);
    return 2;
  }
  note(`Docker ${found.engine}, compose ${found.compose}.`);
  const images = await provideImages(note);
  printImages(images);
  const deployment = await prepareDeployment();
  const interrupted = Promise.withResolvers<never>();
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => interrupted.reject(new Error(`Ended by ${signal}.`)));
  try {
    return await Promise.race([test(deployment, chosen), interrupted.promise]);
  } catch (error) {
    note(error instanceof Error ? (error.stack ?? error.message) : String(error));
    note((await deployment.compose.try('logs', '--tail', '40')).stdout);
    return 1;
  } finally {
    note('Taking it down …');
    await deployment.compose.try('down', '--volumes', '--timeout', '20');
    await deployment.forget();
  }
}

async function test(deployment: Deployment, chosen: Fault[]): Promise<number> {
  const { compose, url } = deployment;
  note('Building …');
  const buildSeconds = await secondsOf(() => compose.run('build', '--quiet'));
  printImages([await describeOwnImage()]);
  note('Bringing it up …');
  const upSeconds = await secondsOf(async () => {
    await compose.run('up', '--detach');
    await compose.waitUntilHealthy();
  });
  print([`Built in ${buildSeconds} s, healthy at ${url} after ${upSeconds} s.`]);

  const checks = [...(await checkConfinement(deployment)), ...(await checkUse(deployment))];
  printChecks(checks);
  const reports = await injectFaults(deployment, chosen);
  const afterwards = [await checkSharedLimits(deployment)];
  printFaults(reports);
  printChecks(afterwards);
  return [...checks, ...afterwards].every(({ ok }) => ok) && reports.every(isSound) ? 0 : 1;
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
