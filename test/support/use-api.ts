import type { Environment } from '../../base/config/environment.ts';
import type { ServiceName } from '../../ops/local/stack.ts';
import { startTestApi, type Tenant, type TestApi } from './api.ts';
import { type FakeAi, startFakeAi } from './fake-ai.ts';
import { expectCleanLog, expectSoundLedger } from './jobs.ts';
import { lateValue } from './late-value.ts';

interface UseApiOptions {
  /** Whether the API uses a fake AI service, `ai`, instead of the one of the run. */
  ai?: boolean;
  /** Variables on top of the defaults. A function may start the servers that they name. */
  env?: Environment | (() => Environment | Promise<Environment>);
  /** `api` alone by default, with the worker inside; `['api', 'worker']` runs the worker in a process of its own. */
  services?: ServiceName[];
  /** Whether the API is a process of its own: see `startTestApi`. */
  process?: boolean;
  /** Whether the tests share `tenant` (the default), or each test has one of its own. */
  tenant?: 'shared' | 'of each test';
  /** When the ledger must be sound and the logs of the services free of errors; never when absent. */
  check?: 'after each test' | 'at the end';
}

/** What the tests of a `describe` use. There is nothing in it before its hooks have run. */
export interface UsedApi {
  api: TestApi;
  /** The fake AI service, if the options ask for one. */
  ai: FakeAi;
  /** A tenant is made only for those who ask: that costs requests, which some tests count. */
  readonly tenant: Tenant;
}

/**
 * Gives the tests of a `describe` an API of their own, with a database and a namespace of its own. It starts in a `before` hook,
 * and stops after every other hook of the `describe`: those may use it, before and after the tests.
 */
export function useApi(options: UseApiOptions = {}): UsedApi {
  const { services, check, tenant: tenants = 'shared' } = options;
  const [api, setApi] = lateValue<TestApi>('api');
  const [ai, setAi] = lateValue<FakeAi>('ai');
  const [tenant, setTenant] = lateValue<Tenant>('tenant');
  let wantsTenant = false;
  const stops: (() => Promise<void>)[] = [];

  before('starts an API', async function () {
    // A hook that is added only now runs after those that the file declares below.
    this.test?.parent?.afterAll('stops the API', () => stopAll(stops));
    let env = typeof options.env === 'function' ? await options.env() : options.env;
    if (options.ai) {
      const started = await startFakeAi();
      stops.push(started.stop);
      setAi(started);
      env = { ...started.env, ...env };
    }
    const started = await startTestApi({ ...(env && { env }), ...(services && { services }), ...(options.process && { process: true }) });
    stops.push(started.stop);
    setApi(started);
    if (wantsTenant && tenants === 'shared') setTenant(await started.createTenant());
  });
  if (tenants === 'of each test') beforeEach('creates a tenant', async () => setTenant(await api.createTenant()));
  if (check === 'after each test') afterEach('left a sound ledger and a clean log', () => checkAll(api, services));
  if (check === 'at the end') after('left a sound ledger and a clean log', () => checkAll(api, services));
  return {
    api,
    ai,
    get tenant() {
      wantsTenant = true;
      return tenant;
    },
  };
}

/** Stops the last one first; each is stopped, whatever becomes of the others. */
async function stopAll(stops: (() => Promise<void>)[]): Promise<void> {
  const failures: unknown[] = [];
  for (const stop of stops.splice(0).reverse()) await stop().catch((error: unknown) => failures.push(error));
  if (failures.length > 0) throw failures[0];
}

async function checkAll(api: TestApi, services: ServiceName[] = ['api']): Promise<void> {
  await expectSoundLedger(api);
  expectCleanLog(api, ...services);
}
