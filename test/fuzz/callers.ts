import { startTestApi, type Tenant, type TestApi, type TestUser } from '../support/api.ts';
import type { CallerName } from './options.ts';

/** One who sends requests, and the rows that the requests are about: a tenant of this caller alone, so that none undoes another's. */
export interface Caller {
  name: CallerName;
  /** Undefined for the anonymous. */
  token: string | undefined;
  tenant: Tenant;
  /** Ids of rows, some of which the requests will delete. */
  rows: { documents: string[]; jobs: string[]; workspaces: string[] };
}

const rowsOfEach = 5;
const note = 'The observatory stands on Korvid Ridge. Its mirrors are washed with deionised water every month.';

/** Starts the service that is fuzzed, with its limits of requests out of the way. It takes the addresses that the requests claim to come from. */
export async function startFuzzedApi(): Promise<TestApi> {
  const env = {
    SEARCH_LIMIT_PER_MINUTE: '1000000',
    QUESTION_LIMIT_PER_MINUTE: '1000000',
    TRUST_PROXY: 'true',
    CONTACT_EMAIL: 'contact@example.com',
    WEBHOOKS_ENABLED: 'true',
    EXTRA_JOB_KINDS: 'document.process,document.extractFields',
    LOG_LEVEL: 'warn',
  };
  return await startTestApi({ env });
}

/** Makes a tenant with documents, jobs and workspaces, and the user who acts in it. */
export async function createCaller(api: TestApi, name: CallerName): Promise<Caller> {
  const tenant = await api.createTenant();
  const rows = { documents: await createDocuments(api, tenant), jobs: await createJobs(api, tenant), workspaces: [] as string[] };
  for (let index = 0; index < rowsOfEach; index++) {
    const slug = `spare-${index}`;
    const body = { organizationId: tenant.organizationId, name: slug, slug };
    rows.workspaces.push((await create(api, tenant, '/api/v1/workspaces', body)).id);
  }
  return { name, token: (await createUser(api, name, tenant))?.token, tenant, rows };
}

async function createDocuments(api: TestApi, tenant: Tenant): Promise<string[]> {
  const ids: string[] = [];
  for (let index = 0; index < rowsOfEach; index++) ids.push((await api.upload(tenant, { bytes: note })).id);
  for (const documentId of ids) {
    const job = await create(api, tenant, '/api/v1/jobs', { kind: 'document.index', documentId });
    await api.jobIn(tenant.owner.token, job.id, ['succeeded']);
  }
  return ids;
}

/** Jobs that can be read, and one that can be retried. */
async function createJobs(api: TestApi, tenant: Tenant): Promise<string[]> {
  const { owner, organizationId, workspaceId } = tenant;
  const broken = await api.upload(tenant, { name: 'broken.pdf', contentType: 'application/pdf', bytes: note });
  const failed = await create(api, tenant, '/api/v1/jobs', { kind: 'document.extract', documentId: broken.id, maxAttempts: 1 });
  await api.jobIn(owner.token, failed.id, ['failed']);
  const ids = [failed.id];
  for (let index = 0; index < rowsOfEach; index++) {
    const body = { kind: 'text.summarize', organizationId, workspaceId, text: note };
    ids.push((await create(api, { owner }, '/api/v1/jobs', body)).id);
  }
  return ids;
}

async function createUser(api: TestApi, name: CallerName, tenant: Tenant): Promise<TestUser | undefined> {
  if (name === 'anonymous') return undefined;
  if (name === 'owner') return tenant.owner;
  const user = await api.signUp();
  if (name === 'member') await api.addMember(tenant.organizationId, user, 'member');
  else await api.makePlatformAdmin(user);
  return user;
}

async function create(api: TestApi, { owner }: Pick<Tenant, 'owner'>, path: string, body: object): Promise<{ id: string }> {
  const answer = await api.request('POST', path, { token: owner.token, body });
  if (answer.status !== 200) throw new Error(`${path} refused what the fuzzing needs: ${JSON.stringify(answer.body)}`);
  return answer.body;
}
