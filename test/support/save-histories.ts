// `npm run save-histories`: runs every workflow through its ways to end on real services, and saves the histories that
// test/replay/replay-histories.test.ts replays. Saved files of older versions stay: running workflows may be that old.
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { historyToJSON } from '@temporalio/common/lib/proto-utils.js';
import { version } from '../../contract/index.ts';
import { mainTaskQueue } from '../../contract/intents/definitions.ts';
import type { ReindexInput, ReplayInput, SyncCustomerInput, SyncSeatsInput, UploadInput } from '../../contract/intents/inputs.ts';
import { inTransaction } from '../../db/transaction.ts';
import { systemActor } from '../../domain/audit.ts';
import { requestReplay } from '../../domain/jobs/replay-jobs.ts';
import { endOutage } from '../../domain/outages/note-up.ts';
import { webhooksOn } from '../adapters/webhooks/support.ts';
import { startTestApi, type Tenant, type TestApi } from './api.ts';
import { aiError, answerLate, providerError, startFakeAi } from './fake-ai.ts';
import { until } from './processes.ts';
import { startReceiver } from './receiver.ts';
import { stopOwnServices } from './stack.ts';
import { withTimes } from './times.ts';

const directory = 'test/replay';
const only = process.argv.slice(2);
if (only.some((name) => name.startsWith('-'))) {
  console.log('Usage: npm run save-histories [-- NAME…]');
  console.log(`Saves those in ${directory}/ that are not there yet; with a NAME, such as delete-workspace, that one anew.`);
  process.exit(only.includes('--help') ? 0 : 2);
}

const api = await startTestApi({ process: true, env: withTimes({ jobRetryDelays: [300] }, { JOB_TIMEOUT_MS: '3000', ...webhooksOn }) });
try {
  mkdirSync(directory, { recursive: true });
  await saveAll(api);
} finally {
  await api.stop();
  await stopOwnServices();
}

async function saveAll(api: TestApi): Promise<void> {
  const tenant = await api.createTenant();
  await saveJobs(api, tenant);
  await saveUploads(api, tenant);
  await saveWebhooks(api, tenant);
  await saveOperations(api, tenant);
}

/** The jobs without the suffix began before the row decided. */
async function saveJobs(api: TestApi, tenant: Tenant): Promise<void> {
  const { token } = tenant.owner;
  const { db } = api.database;
  const create = async (body: object) => (await api.request('POST', '/api/v1/jobs', { token, body })).body.id as string;
  const text = { organizationId: tenant.organizationId, kind: 'text.embed', texts: ['a'] };

  const succeeded = await create(text);
  await api.jobIn(token, succeeded, ['succeeded']);
  await save(api, 'run-job-succeeded-by-row', `job-${succeeded}`);

  const { id: broken } = await api.upload(tenant, { contentType: 'application/pdf', bytes: 'this is no PDF' });
  const failed = await create({ kind: 'document.extract', documentId: broken });
  await api.jobIn(token, failed, ['failed']);
  await save(api, 'run-job-failed-by-row', `job-${failed}`);

  // Only the header that it is started with matters, so there need be no collector.
  await api.stack.restart('api', { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:9' });
  const traced = await create(text);
  await api.jobIn(token, traced, ['succeeded']);
  await save(api, 'run-job-traced', `job-${traced}`);

  const ai = await startFakeAi();
  ai.behave('embed', () => aiError(500, 'internal_error'));
  await api.stack.restart('api', withTimes({ jobRetryDelays: [300], outageProbes: [60_000] }, ai.env));
  const retried = await create({ ...text, maxAttempts: 3 });
  await api.jobIn(token, retried, ['failed']);
  await save(api, 'run-job-attempts-spent-by-row', `job-${retried}`);

  ai.behave('embed', () => providerError('embed', 'failing'));
  const probing = await create(text);
  await until(async () => (await db.selectFrom('provider_outage').selectAll().execute()).length > 0);
  const waiting = await create(text);
  await until(async () => (await api.request('GET', `/api/v1/jobs/${waiting}`, { token })).body.waiting === 'provider');
  ai.behave('embed');
  await inTransaction(db, (trx) => endOutage(trx, systemActor, 'embed'));
  for (const id of [probing, waiting]) await api.jobIn(token, id, ['succeeded'], 60_000);
  await save(api, 'run-job-waited', `job-${waiting}`);

  await api.stack.restart('api', withTimes({ jobRetryDelays: [60_000] }, { ...webhooksOn, AI_SERVICE_URL: 'http://127.0.0.1:9' }));
  const canceled = await create(text);
  await until(async () => (await api.request('GET', `/api/v1/jobs/${canceled}`, { token })).body.nextAttemptAt !== null);
  await api.request('POST', `/api/v1/jobs/${canceled}/cancel`, { token });
  await save(api, 'run-job-canceled-between-attempts-by-row', `job-${canceled}`);

  const interrupted = await create(text);
  await until(async () => (await api.request('GET', `/api/v1/jobs/${interrupted}`, { token })).body.nextAttemptAt !== null);
  await api.temporal.client.workflow.getHandle(`job-${interrupted}`).cancel();
  await save(api, 'run-job-canceled-by-operator-by-row', `job-${interrupted}`);

  ai.behave('embed', answerLate(14_000));
  await api.stack.restart('api', withTimes({ jobRetryDelays: [300] }, { ...webhooksOn, ...ai.env, JOB_TIMEOUT_MS: '30000' }));
  const held = await create({ ...text, maxAttempts: 1 });
  await until(() => ai.callsOf(held) === 1);
  // The attempt goes on, shows that it runs, and still holds the job when the workflow tries again.
  await api.temporal.client.activity.complete({ workflowId: `job-${held}`, activityId: '1' }, null);
  await save(api, 'run-job-held-elsewhere', `job-${held}`);
  await ai.stop();

  await api.stack.restart('api', { WORKER_ENABLED: 'false' });
  const early = await create(text);
  await api.request('POST', `/api/v1/jobs/${early}/cancel`, { token });
  await until(async () => (await db.selectFrom('outbox').selectAll().execute()).length === 0);
  await api.stack.restart('api', withTimes({ jobRetryDelays: [300] }, webhooksOn));
  await save(api, 'run-job-canceled-before-first-task-by-row', `job-${early}`);
  await db.deleteFrom('outbox').execute();
}

async function saveUploads(api: TestApi, tenant: Tenant): Promise<void> {
  const { token } = tenant.owner;
  const completed = await api.upload(tenant, { bytes: 'text' });
  const { client } = api.temporal;
  const { organizationId, workspaceId } = tenant;
  for (const [name, isEnded] of [
    ['upload-completed', true],
    ['upload-purged', false],
  ] as const) {
    const body = { workspaceId, name: 'late.txt', contentType: 'text/plain', size: 4 };
    const { id: documentId } = (await api.request('POST', '/api/v1/documents', { token, body })).body.document;
    const input: UploadInput = { documentId, organizationId, workspaceId };
    const options = { taskQueue: mainTaskQueue, workflowId: `${name}-saved`, args: [input], startDelay: 500 };
    await api.database.db
      .updateTable('document')
      .set({ created_at: new Date(0) })
      .where('id', '=', documentId)
      .execute();
    const handle = await client.workflow.start('upload', options);
    if (isEnded) await handle.signal('uploadEnded');
    await save(api, name, `${name}-saved`);
  }
  await api.request('DELETE', `/api/v1/documents/${completed.id}`, { token });
  await save(api, 'delete-objects', `delete-objects-${tenant.organizationId}`);
  const body = { organizationId: tenant.organizationId, name: 'Deleted', slug: 'deleted' };
  const { id } = (await api.request('POST', '/api/v1/workspaces', { token, body })).body;
  await api.request('DELETE', `/api/v1/workspaces/${id}`, { token });
  await save(api, 'delete-workspace', `delete-workspace-${id}`);
}

async function saveWebhooks(api: TestApi, tenant: Tenant): Promise<void> {
  const { token } = tenant.owner;
  const receiver = await startReceiver();
  const body = { organizationId: tenant.organizationId, url: receiver.url, events: ['member.added'] };
  const { id } = (await api.request('POST', '/api/v1/webhooks', { token, body })).body;
  const send = async () => (await api.request('POST', `/api/v1/webhooks/${id}/test`, { token })).body.id as string;
  const delivered = await send();
  await save(api, 'deliver-webhook-delivered', `webhook-${delivered}`);
  await api.request('POST', `/api/v1/webhook-deliveries/${delivered}/resend`, { token });
  await until(() => receiver.received.length === 2);
  await save(api, 'deliver-webhook-resent', `webhook-${delivered}`);
  receiver.behave({ status: 410 });
  await save(api, 'deliver-webhook-failed', `webhook-${await send()}`);
  receiver.behave({ never: true });
  const canceled = await send();
  await until(() => receiver.received.length === 4);
  await api.temporal.client.workflow.getHandle(`webhook-${canceled}`).cancel();
  await save(api, 'deliver-webhook-canceled-by-operator', `webhook-${canceled}`);
  await receiver.stop();
}

async function saveOperations(api: TestApi, tenant: Tenant): Promise<void> {
  const { client } = api.temporal;
  const run = async (type: string, name: string, input: object[] = []) => {
    await client.workflow.execute(type, { taskQueue: 'sheaf', workflowId: `${name}-saved`, args: input });
    await save(api, name, `${name}-saved`);
  };
  await run('sweepJobs', 'sweep-jobs');
  await run('reconcileIndexes', 'reconcile-indexes');
  await run('reconcileBilling', 'reconcile-billing');
  // The one without a suffix began before there were webhooks, the one with webhooks before secrets were sealed, and the one with sealed
  // secrets before the ledger was checked, the one with the ledger before workspaces had a retention, and the one with retention before calls
  // of providers were deleted.
  await run('housekeeping', 'housekeeping-with-provider-calls');
  const replay: ReplayInput = { organizationId: tenant.organizationId, perMinute: 6_000 };
  await requestReplay(api.database.db, { id: 'replay-failed-jobs-saved', input: replay });
  await run('replayFailedJobs', 'replay-failed-jobs', [replay]);
  await makeDocumentBehind(api, tenant);
  const workspace: ReindexInput = { workspaceId: tenant.workspaceId, perMinute: 6_000 };
  await run('reindexDocuments', 'reindex-documents', [workspace]);
  await run('syncSeats', 'sync-seats', [{ organizationId: tenant.organizationId } satisfies SyncSeatsInput]);
  await run('syncCustomer', 'sync-customer', [{ organizationId: tenant.organizationId } satisfies SyncCustomerInput]);
  const body = { email: tenant.owner.email, redirectTo: 'http://localhost:5173/reset' };
  await api.request('POST', '/api/auth/request-password-reset', { body });
  const mail = await findWorkflow(api, 'sendMail');
  await save(api, 'send-mail', mail);
  const admin = await api.signUp();
  await api.makePlatformAdmin(admin);
  const confirmation = { confirmSlug: tenant.slug };
  await api.request('DELETE', `/api/v1/admin/organizations/${tenant.organizationId}`, { token: admin.token, body: confirmation });
  await save(api, 'delete-organization', `delete-organization-${tenant.organizationId}`);
}

/** A document that was indexed by other rules than today's. */
async function makeDocumentBehind(api: TestApi, tenant: Tenant): Promise<void> {
  const { token } = tenant.owner;
  const { id: documentId } = await api.upload(tenant, { bytes: 'A text that is searched.' });
  const { id } = (await api.request('POST', '/api/v1/jobs', { token, body: { kind: 'document.index', documentId } })).body;
  await api.jobIn(token, id, ['succeeded']);
  await api.database.db.updateTable('document_index').set({ chunking: '0' }).where('document_id', '=', documentId).execute();
}

/** A history without the names and paths of the machine that it was saved on; a replay needs neither. */
function withoutPlace(json: string): string {
  const anonymous = json.replaceAll(/"(stackTrace|identity)": "(?:[^"\\]|\\.)*"/g, '"$1": ""');
  // A worker's own queue is named after its process and machine.
  return anonymous.replaceAll(/"name": "\d+@[^"]*"/g, '"name": "sticky"');
}

async function findWorkflow(api: TestApi, type: string): Promise<string> {
  let found: string | undefined;
  await until(async () => {
    for await (const { workflowId } of api.temporal.client.workflow.list({ query: `WorkflowType = '${type}'` })) found = workflowId;
    return found !== undefined;
  });
  return found ?? '';
}

async function tooLong(workflowId: string): Promise<never> {
  await delay(60_000, undefined, { ref: false });
  throw new Error(`${workflowId} does not end`);
}

/** Waits for a workflow's end and writes its history, unless this version has saved it before. */
async function save(api: TestApi, name: string, workflowId: string): Promise<void> {
  const file = `${directory}/${name}.${version}.json`;
  const handle = api.temporal.client.workflow.getHandle(workflowId);
  let exists = false;
  await until(async () => {
    exists ||= await handle.describe().then(
      () => true,
      () => false,
    );
    return exists;
  });
  await Promise.race([handle.result().catch(() => undefined), tooLong(workflowId)]);
  if (only.length > 0 ? !only.includes(name) : existsSync(file)) return;
  writeFileSync(file, `${withoutPlace(historyToJSON(await handle.fetchHistory()))}\n`);
  console.log(file);
}
