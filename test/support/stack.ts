import { inheritedEnvironment, loadTestServices } from '../../base/config/local.ts';
import type { ServiceName, Stack } from '../../ops/local/stack.ts';
import { makeTestDirectory, removeTestDirectory } from './directories.ts';

const given = loadTestServices(inheritedEnvironment());
const own = new Map<ServiceName, Promise<Stack>>();

/** The Postgres of this test run: a URL that may create databases. `test/support/database.ts` makes a database of a test's own. */
export async function testPostgres(): Promise<{ adminUrl: string }> {
  return { adminUrl: given.databaseUrl ?? (await startOwn('postgres')).databaseUrl };
}

/** The Temporal server of this test run; namespace `default`. Every test file names its task queues and workflows so that they are its own. */
export async function testTemporal(): Promise<{ address: string }> {
  return { address: given.temporalAddress ?? (await startOwn('temporal')).temporalAddress };
}

/** The AI service of this test run, and the token that it wants. */
export async function testAi(): Promise<{ url: string; token: string }> {
  if (given.aiUrl !== undefined && given.serviceToken !== undefined) return { url: given.aiUrl, token: given.serviceToken };
  const stack = await startOwn('ai');
  return { url: stack.aiUrl, token: stack.serviceToken };
}

/** Stops what this process started for itself; the root hook calls it. */
export async function stopOwnServices(): Promise<void> {
  const stacks = await Promise.allSettled(own.values());
  own.clear();
  for (const stack of stacks) {
    if (stack.status === 'rejected') continue;
    await stack.value.stop();
    removeTestDirectory(stack.value.dataDir);
  }
}

/** Run on its own, without `npm test`, a test file starts each service when it first asks for it. */
function startOwn(service: ServiceName): Promise<Stack> {
  const started = own.get(service) ?? startOne(service);
  own.set(service, started);
  return started;
}

async function startOne(service: ServiceName): Promise<Stack> {
  const { startStack } = await import('../../ops/local/stack.ts');
  return await startStack({ dataDir: makeTestDirectory(), services: [service], durable: false, temporalUi: false });
}
