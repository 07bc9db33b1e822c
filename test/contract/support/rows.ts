import type { AnyRoute } from '../../../contract/route.ts';
import { newId } from '../../../domain/ids.ts';
import type { Tenant, TestApi } from '../../support/api.ts';
import { expectOk } from '../../support/requests.ts';
import { describedInputs } from './described-input.ts';

/** A tenant with a row of every kind that an operation can name. */
export interface TenantRows {
  tenant: Tenant;
  organizationId: string;
  workspaceId: string;
  documentId: string;
  jobId: string;
  webhookId: string;
  deliveryId: string;
  apiKeyId: string;
  slug: string;
}

/** Makes the rows; the API has to run without a worker, so that the job stays queued. */
export async function createRows(api: TestApi): Promise<TenantRows> {
  return await createRowsIn(api, await api.createTenant());
}

/** Makes them anew in the same organization, for what has deleted some. */
export async function createRowsAgain(api: TestApi, { tenant }: TenantRows): Promise<TenantRows> {
  const { organizationId, owner } = tenant;
  const body = { organizationId, name: 'Another', slug: `another-${newId()}` };
  const { body: workspace } = await expectOk(api.request('POST', '/api/v1/workspaces', { token: owner.token, body }));
  return await createRowsIn(api, { ...tenant, workspaceId: workspace.id });
}

async function createRowsIn(api: TestApi, tenant: Tenant): Promise<TenantRows> {
  const { token } = tenant.owner;
  const { organizationId, workspaceId } = tenant;
  const upload = { workspaceId, name: 'note.txt', contentType: 'text/plain', size: 5 };
  const { body: created } = await api.request('POST', '/api/v1/documents', { token, body: upload });
  const embed = { kind: 'text.embed', organizationId, texts: ['one'] };
  const { body: job } = await api.request('POST', '/api/v1/jobs', { token, body: embed });
  const newKey = { organizationId, name: 'Key', permissions: ['job:read'] };
  const { body: key } = await api.request('POST', '/api/v1/api-keys', { token, body: newKey });
  const webhooks = await createWebhookRows(api, organizationId);
  const ids = { organizationId, workspaceId, documentId: created.document.id, jobId: job.id, apiKeyId: key.id, ...webhooks };
  return { tenant, slug: 'main', ...ids };
}

/** Webhooks are off by default, so the rows are written as if they had been on. */
async function createWebhookRows(api: TestApi, organizationId: string) {
  const { db } = api.database;
  const [webhookId, deliveryId] = [newId(), newId()];
  const fields = { organization_id: organizationId, url: 'https://hooks.example.com/', secret: 'whsec_c2VjcmV0' };
  await db
    .insertInto('webhook_endpoint')
    .values({ id: webhookId, ...fields, events: ['job.succeeded'], signature: 'v1' })
    .execute();
  await db
    .insertInto('webhook_delivery')
    .values({
      id: deliveryId,
      organization_id: organizationId,
      endpoint_id: webhookId,
      event_id: deliveryId,
      event: 'webhook.test',
      data: '{}',
    })
    .execute();
  return { webhookId, deliveryId };
}

/** Inputs of an operation, one for each kind of its body, that name the rows of a tenant. */
export function inputsFor(route: AnyRoute, rows: TenantRows): Record<string, unknown>[] {
  const { operation } = route.metadata;
  const byName: Record<string, unknown> = {
    organizationId: rows.organizationId,
    workspaceId: rows.workspaceId,
    documentId: rows.documentId,
    endpointId: rows.webhookId,
    id: idOf(operation, rows),
    ...(operation === 'workspaces.get' ? { slug: rows.slug } : {}),
    ...(operation.startsWith('workspaces.') ? { teamId: null } : {}),
  };
  return describedInputs(route).map(({ example }) => {
    // A budget, a retention and a replacement ask for more than their operation does.
    const {
      cursor: _issuedByNobody,
      creditBudget: _forFew,
      costBudgetMicros: _forFewer,
      retention: _forAdmins,
      replaces: _forWhoMayDelete,
      ...input
    } = example;
    return renamed(input, byName);
  });
}

/** The fields by these names, also those of objects in lists. */
function renamed(input: object, byName: Record<string, unknown>): Record<string, unknown> {
  const inList = (value: unknown) => (typeof value === 'object' && value !== null ? renamed(value, byName) : value);
  return Object.fromEntries(
    Object.entries(input).map(([name, value]) => [name, name in byName ? byName[name] : Array.isArray(value) ? value.map(inList) : value]),
  );
}

/** The fields of an operation that name a row, other than the organization. */
export function rowFieldsOf(route: AnyRoute): string[] {
  const names = describedInputs(route).flatMap(({ fields }) => fields.map(({ name }) => name));
  const lookedUp = ['id', 'workspaceId', 'documentId', 'teamId', ...(route.metadata.operation === 'workspaces.get' ? ['slug'] : [])];
  return [...new Set(names)].filter((name) => lookedUp.includes(name));
}

function idOf(operation: string, rows: TenantRows): string {
  if (operation.startsWith('workspaces.')) return rows.workspaceId;
  if (['webhooks.delivery', 'webhooks.resend'].includes(operation)) return rows.deliveryId;
  if (operation.startsWith('webhooks.')) return rows.webhookId;
  if (operation.startsWith('apiKeys.')) return rows.apiKeyId;
  return operation.startsWith('documents.') ? rows.documentId : rows.jobId;
}
