import type { Environment } from '../../base/config/environment.ts';
import { type ServiceName, type Stack, startStack } from '../../ops/local/stack.ts';
import { createTestDatabase, type TestDatabase } from './database.ts';
import { makeTestDirectory, removeTestDirectory } from './directories.ts';
import { fitsThisProcess, startInThisProcess } from './in-process-api.ts';
import { until } from './processes.ts';
import { recorder } from './recorder.ts';
import { createRequests, expectOk, type Requests } from './requests.ts';
import { noteTokens } from './run-secrets.ts';
import { testAi } from './stack.ts';
import { createTestNamespace, type TestNamespace } from './temporal.ts';
import { createTenants, type Tenants } from './tenants.ts';

export type { Answer, RequestOptions } from './requests.ts';
export type { Tenant, TestUser } from './tenants.ts';

/** An API of one test file, with a database and a namespace of its own. */
export interface TestApi extends Requests, Tenants {
  url: string;
  stack: Stack;
  database: TestDatabase;
  temporal: TestNamespace;
  /** Waits until a job is in one of the statuses, and returns it. */
  jobIn(token: string, jobId: string, statuses: string[], timeoutMs?: number): Promise<any>;
  stop(): Promise<void>;
}

interface TestApiOptions {
  /** Variables on top of the defaults. */
  env?: Environment;
  /** `api` alone by default, with the worker inside; `['api', 'worker']` runs the worker in a process of its own. */
  services?: ServiceName[];
  /** Whether the API is a process of its own, for tests that kill, suspend or restart it, or count what a process does. */
  process?: boolean;
  /** A database that the test has made, if the service reaches it in another way (`env`). It is dropped when the API stops. */
  database?: TestDatabase;
}

/**
 * Starts an API for one test file against the services of the run: in this process, unless `process`, `services` or a variable asks for one
 * of its own. Call {@link TestApi.stop} in `after`.
 */
export async function startTestApi(options: TestApiOptions = {}): Promise<TestApi> {
  const { env = {}, services = ['api'], database: given } = options;
  const inProcess = !options.process && services.join() === 'api' && fitsThisProcess(env);
  const [database, temporal, ai] = await Promise.all([given ?? createTestDatabase({ poolSize: 4 }), createTestNamespace(), testAi()]);
  // Between two requests, the connection that is open might end unseen, and fail the next one.
  recorder.prepare();
  const dataDir = makeTestDirectory();
  const stack = await startStack({
    dataDir,
    services: inProcess ? [] : services,
    temporalUi: false,
    external: { databaseUrl: database.url, temporalAddress: temporal.address, aiUrl: ai.url },
    env: {
      ...database.env,
      TEMPORAL_NAMESPACE: temporal.namespace,
      SERVICE_TOKEN: ai.token,
      RATE_LIMIT_PER_MINUTE: '1000000',
      LOG_LEVEL: 'info',
      // Whoever signs up first would be a platform admin.
      FIRST_ADMIN_EMAIL: 'nobody@example.com',
      ...env,
    },
  });
  const stopOwn = inProcess ? await startInThisProcess(stack) : undefined;
  const url = stack.apiUrl;
  noteTokens(stack.env.AUTH_SECRET, stack.env.SERVICE_TOKEN, new URL(database.url).password);

  const requests = createRequests(url);
  return {
    url,
    stack,
    database,
    temporal,
    ...requests,
    ...createTenants(requests, database, stack.env.AUTH_SECRET ?? ''),
    jobIn: (token, jobId, statuses, timeoutMs = 60_000) => waitForJob(requests, { token, jobId, statuses, timeoutMs }),
    async stop() {
      await stopOwn?.();
      await stack.stop();
      await temporal.close();
      await database.drop();
      removeTestDirectory(dataDir);
    },
  };
}

async function waitForJob(
  { request }: Requests,
  { token, jobId, statuses, timeoutMs }: { token: string; jobId: string; statuses: string[]; timeoutMs: number },
): Promise<any> {
  let job: any;
  const isThere = async () => {
    job = (await expectOk(request('GET', `/api/v1/jobs/${jobId}`, { token }))).body;
    return statuses.includes(job.status);
  };
  await until(isThere, timeoutMs).catch((error) => {
    throw new Error(`job ${jobId} is ${job?.status}, not ${statuses.join(' or ')}: ${JSON.stringify(job)}`, { cause: error });
  });
  return job;
}
