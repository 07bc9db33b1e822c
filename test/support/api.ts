import { randomUUID } from 'node:crypto';
import type { Environment } from '../../config/environment.ts';
import { type ServiceName, type Stack, startStack } from '../../local/stack.ts';
import { createTestDatabase, type TestDatabase } from './database.ts';
import { makeTestDirectory, removeTestDirectory } from './directories.ts';
import { until } from './processes.ts';
import { recorder } from './recorder.ts';
import { noteRequest, noteSignatures, noteText, noteTokens } from './run-secrets.ts';
import { testAi } from './stack.ts';
import { createTestNamespace, type TestNamespace } from './temporal.ts';

/** An answer of the API, its body parsed if it is JSON. */
export interface Answer<T = any> {
  status: number;
  headers: Headers;
  body: T;
}

export interface TestUser {
  id: string;
  email: string;
  token: string;
}

export interface Tenant {
  owner: TestUser;
  organizationId: string;
  slug: string;
  workspaceId: string;
}

export interface RequestOptions {
  token?: string | undefined;
  body?: unknown;
  headers?: Record<string, string>;
  signal?: AbortSignal;
}

/** An API process of one test file, with a database and a namespace of its own. */
export interface TestApi {
  url: string;
  stack: Stack;
  database: TestDatabase;
  temporal: TestNamespace;
  /** Sends a request to a path below the API's root, such as `/api/v1/me`. */
  request<T = any>(method: string, path: string, options?: RequestOptions): Promise<Answer<T>>;
  /** Calls a procedure over `/rpc`: `rpc('jobs.get', { id })`. */
  rpc<T = any>(operation: string, input: unknown, options?: RequestOptions): Promise<Answer<T>>;
  signUp(name?: string): Promise<TestUser>;
  /** A user with an organization and a workspace. */
  createTenant(): Promise<Tenant>;
  /** Makes a user a member of an organization; the row is written as better-auth writes it. */
  addMember(organizationId: string, user: TestUser, role: 'owner' | 'admin' | 'member'): Promise<void>;
  makePlatformAdmin(user: TestUser): Promise<void>;
  /** Creates a document, uploads its bytes and completes it. */
  upload(
    tenant: Pick<Tenant, 'owner' | 'workspaceId'>,
    file: { name?: string; contentType?: string; bytes: Uint8Array | string },
  ): Promise<{ id: string }>;
  /** Waits until a job is in one of the statuses, and returns it. */
  jobIn(token: string, jobId: string, statuses: string[], timeoutMs?: number): Promise<any>;
  stop(): Promise<void>;
}

export interface TestApiOptions {
  /** Variables on top of the defaults. */
  env?: Environment;
  /** `api` alone by default, with the worker inside; `['api', 'worker']` runs the worker in a process of its own. */
  services?: ServiceName[];
  /** A database that the test has made, if the service reaches it in another way (`env`). It is dropped when the API stops. */
  database?: TestDatabase;
}

/** Starts an API for one test file against the services of the run. Call {@link TestApi.stop} in `after`. */
export async function startTestApi({ env = {}, services = ['api'], database: given }: TestApiOptions = {}): Promise<TestApi> {
  const [database, temporal, ai] = await Promise.all([given ?? createTestDatabase({ poolSize: 4 }), createTestNamespace(), testAi()]);
  // Between two requests, the connection that is open might end unseen, and fail the next one.
  recorder.prepare();
  const dataDir = makeTestDirectory();
  const stack = await startStack({
    dataDir,
    services,
    temporalUi: false,
    external: { databaseUrl: database.url, temporalAddress: temporal.address, aiUrl: ai.url },
    env: {
      ...database.env,
      TEMPORAL_NAMESPACE: temporal.namespace,
      SERVICE_TOKEN: ai.token,
      RATE_LIMIT_PER_MINUTE: '1000000',
      LOG_LEVEL: 'info',
      ...env,
    },
  });
  const url = stack.apiUrl;
  noteTokens(stack.env.AUTH_SECRET, stack.env.SERVICE_TOKEN, new URL(database.url).password);

  async function request(method: string, path: string, { token, body, headers = {}, signal }: RequestOptions = {}): Promise<Answer> {
    const requestHeaders = new Headers({
      ...(token ? { authorization: `Bearer ${token}` } : {}),
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...headers,
    });
    const response = await fetch(`${url}${path}`, {
      method,
      headers: requestHeaders,
      ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
      ...(signal ? { signal } : {}),
    });
    const text = await response.text();
    noteTokens(token, response.headers.get('set-auth-token') ?? undefined);
    noteRequest(body);
    noteSignatures(text);
    const json = response.headers.get('content-type')?.includes('json');
    const answer = { status: response.status, headers: response.headers, body: json && text !== '' ? JSON.parse(text) : text };
    recorder.check({ method, path, requestHeaders, ...answer });
    return answer;
  }

  async function expectOk(answer: Promise<Answer>): Promise<Answer> {
    const got = await answer;
    if (got.status !== 200) throw new Error(`the set-up of a test got ${got.status}: ${JSON.stringify(got.body)}`);
    return got;
  }

  const api: TestApi = {
    url,
    stack,
    database,
    temporal,
    request,
    rpc: (operation, input, options = {}) =>
      request('POST', `/rpc/${operation.replaceAll('.', '/')}`, { ...options, body: { json: input } }),
    async signUp(name = 'Ada') {
      const email = `${randomUUID()}@example.com`;
      const body = { name, email, password: 'a long password' };
      const answer = await expectOk(request('POST', '/api/auth/sign-up/email', { body }));
      return { id: answer.body.user.id, email, token: answer.headers.get('set-auth-token') ?? '' };
    },
    async createTenant() {
      const owner = await api.signUp();
      const slug = `org-${randomUUID()}`;
      const { token } = owner;
      const organization = await expectOk(request('POST', '/api/auth/organization/create', { token, body: { name: slug, slug } }));
      const organizationId = organization.body.id;
      const body = { organizationId, name: 'Main', slug: 'main' };
      const workspace = await expectOk(request('POST', '/api/v1/workspaces', { token, body }));
      return { owner, organizationId, slug, workspaceId: workspace.body.id };
    },
    async addMember(organizationId, user, role) {
      const row = { id: randomUUID(), organizationId, userId: user.id, role, createdAt: new Date() };
      await database.db.insertInto('member').values(row).execute();
    },
    async makePlatformAdmin(user) {
      await database.db.updateTable('user').set({ role: 'admin' }).where('id', '=', user.id).execute();
    },
    async upload({ owner, workspaceId }, { name = 'note.txt', contentType = 'text/plain', bytes }) {
      const { token } = owner;
      const data = typeof bytes === 'string' ? new TextEncoder().encode(bytes) : bytes;
      noteText(bytes);
      const created = await expectOk(
        request('POST', '/api/v1/documents', { token, body: { workspaceId, name, contentType, size: data.length } }),
      );
      const { document, upload } = created.body;
      const put = await fetch(upload.url, { method: 'PUT', headers: upload.headers, body: data as Uint8Array<ArrayBuffer> });
      if (put.status !== 200) throw new Error(`the upload of a test got ${put.status}: ${await put.text()}`);
      await expectOk(request('POST', `/api/v1/documents/${document.id}/complete`, { token }));
      return document;
    },
    async jobIn(token, jobId, statuses, timeoutMs = 60_000) {
      let job: any;
      const isThere = async () => {
        job = (await expectOk(request('GET', `/api/v1/jobs/${jobId}`, { token }))).body;
        return statuses.includes(job.status);
      };
      await until(isThere, timeoutMs).catch((error) => {
        throw new Error(`job ${jobId} is ${job?.status}, not ${statuses.join(' or ')}: ${JSON.stringify(job)}`, { cause: error });
      });
      return job;
    },
    async stop() {
      await stack.stop();
      await temporal.close();
      await database.drop();
      removeTestDirectory(dataDir);
    },
  };
  return api;
}
