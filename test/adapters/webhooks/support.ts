import { Webhook } from 'standardwebhooks';
import type { Tenant, TestApi } from '../../support/api.ts';
import { until } from '../../support/processes.ts';
import type { Received } from '../../support/receiver.ts';
import { expectOk } from '../../support/requests.ts';
import { noteTokens } from '../../support/run-secrets.ts';
import { withTimes } from '../../support/times.ts';

/** Turns webhooks on, to receivers on this machine, with attempts that follow each other soon. */
export const webhooksOn = withTimes(
  { webhookRetryDelays: [200, 200], webhookRequest: 3_000 },
  { WEBHOOKS_ENABLED: 'true', WEBHOOKS_ALLOWED_NETWORKS: '127.0.0.1/32' },
);

/** Calls an operation of webhooks as the owner of a tenant, and returns the body. */
export async function call(api: TestApi, tenant: Tenant, method: string, path: string, body?: object): Promise<any> {
  return (await expectOk(api.request(method, `/api/v1${path}`, { token: tenant.owner.token, ...(body && { body }) }))).body;
}

/** Adds an endpoint; by default for the ends of jobs. */
export async function addEndpoint(
  api: TestApi,
  tenant: Tenant,
  fields: { url: string; events?: string[]; signature?: string; enabled?: boolean },
) {
  const { organizationId } = tenant;
  const endpoint = await call(api, tenant, 'POST', '/webhooks', { organizationId, events: ['job.succeeded', 'job.failed'], ...fields });
  noteTokens(endpoint.secret?.slice('whsec_'.length));
  return endpoint;
}

/** The deliveries of a tenant, newest first. */
export async function deliveriesOf(api: TestApi, tenant: Tenant, query = ''): Promise<any[]> {
  return (await call(api, tenant, 'GET', `/webhook-deliveries?organizationId=${tenant.organizationId}&limit=100${query}`)).items;
}

/** Waits until a delivery of an endpoint is in a status, and returns it. */
export async function deliveryIn(api: TestApi, tenant: Tenant, endpointId: string, status: string, timeoutMs = 180_000): Promise<any> {
  let found: any;
  await until(async () => {
    [found] = await deliveriesOf(api, tenant, `&endpointId=${endpointId}`);
    return found?.status === status;
  }, timeoutMs).catch((error) => {
    throw new Error(`the delivery is not ${status}: ${JSON.stringify(found)}`, { cause: error });
  });
  return found;
}

/** Whether a request verifies by the off-the-shelf library. */
export function verifies(secret: string, { body, headers }: Received): boolean {
  try {
    new Webhook(secret).verify(body, headers as Record<string, string>);
    return true;
  } catch {
    return false;
  }
}
