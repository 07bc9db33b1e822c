import { AddressRule } from '../../adapters/webhooks/address-rule.ts';
import { ApiError } from '../../contract/api-error.ts';
import { contract } from '../../contract/index.ts';
import { inTransaction } from '../../db/transaction.ts';
import { createEndpoint } from '../../domain/webhooks/create-endpoint.ts';
import { deleteEndpoint } from '../../domain/webhooks/delete-endpoint.ts';
import { auditEvent, getDelivery, listDeliveries } from '../../domain/webhooks/delivery.ts';
import { checkEndpointOf, getEndpoint, listEndpoints } from '../../domain/webhooks/endpoint.ts';
import { resendDeliveries, resendDelivery } from '../../domain/webhooks/resend.ts';
import { rotateSecret } from '../../domain/webhooks/rotate-secret.ts';
import { testEndpoint } from '../../domain/webhooks/test-endpoint.ts';
import { updateEndpoint } from '../../domain/webhooks/update-endpoint.ts';
import { holdsPermission } from '../caller.ts';
import type { ApiDeps } from '../deps.ts';
import { toDelivery, toEndpoint, toEndpointWithSecret } from '../presenters/webhook.ts';
import { type HandlerContext, procedure } from '../procedure.ts';

const overlapHours = 24;

export function webhookProcedures({ db, config, cursors, secrets }: ApiDeps) {
  const rule = new AddressRule(config.webhooks.allowedNetworks);
  const routes = contract.webhooks;

  /** Authorizes in the organization of the row, and refuses everything while webhooks are off. */
  async function allow({ authorize }: Pick<HandlerContext<unknown>, 'authorize'>, organizationId: string): Promise<void> {
    await authorize(organizationId);
    if (config.webhooks.enabled) return;
    throw new ApiError('PRECONDITION_FAILED', { message: 'Webhooks are not enabled on this deployment.' });
  }

  /** Throws BAD_REQUEST if the host is an address that is never connected to. Those of a host name are checked at each connection. */
  function checkUrl(url: string | undefined): void {
    const message = url === undefined ? undefined : rule.refusalOfUrl(url);
    if (message !== undefined) throw new ApiError('BAD_REQUEST', { message, data: { issues: [{ path: ['url'], message }] } });
  }

  async function endpointOf(context: Pick<HandlerContext<{ id: string }>, 'input' | 'authorize'>) {
    const endpoint = await getEndpoint(db, context.input.id);
    await allow(context, endpoint.organization_id);
    return endpoint;
  }

  /** Deliveries of audit entries are shown to those alone who may read the audit log. */
  function readsAudit({ caller }: Pick<HandlerContext<unknown>, 'caller'>, organizationId: string): boolean {
    return holdsPermission(caller, { organizationId, workspaceId: null }, 'auditLog:read');
  }

  async function deliveryOf(context: Pick<HandlerContext<{ id: string }>, 'input' | 'caller' | 'authorize'>) {
    const delivery = await getDelivery(db, context.input.id);
    await allow(context, delivery.organization_id);
    if (delivery.event === auditEvent && !readsAudit(context, delivery.organization_id)) throw new ApiError('FORBIDDEN');
    return delivery;
  }

  return {
    list: procedure(routes.list, async (context) => {
      await allow(context, context.input.organizationId);
      return (await listEndpoints(db, context.input.organizationId)).map(toEndpoint);
    }),

    get: procedure(routes.get, async (context) => toEndpoint(await endpointOf(context))),

    create: procedure(routes.create, async (context) => {
      const { input, actor } = context;
      await allow(context, input.organizationId);
      checkUrl(input.url);
      return toEndpointWithSecret(await inTransaction(db, (trx) => createEndpoint(trx, actor, input, secrets)), secrets);
    }),

    update: procedure(routes.update, async (context) => {
      const { input, actor } = context;
      const endpoint = await endpointOf(context);
      checkUrl(input.url);
      return toEndpoint(await inTransaction(db, (trx) => updateEndpoint(trx, actor, endpoint, input)));
    }),

    rotateSecret: procedure(routes.rotateSecret, async (context) => {
      const endpoint = await endpointOf(context);
      const how = { overlapHours: context.input.overlapHours ?? overlapHours, secrets };
      return toEndpointWithSecret(await inTransaction(db, (trx) => rotateSecret(trx, context.actor, endpoint, how)), secrets);
    }),

    delete: procedure(routes.delete, async (context) => {
      const endpoint = await endpointOf(context);
      await inTransaction(db, (trx) => deleteEndpoint(trx, context.actor, endpoint));
      return { id: endpoint.id };
    }),

    test: procedure(routes.test, async (context) => {
      const { id } = await endpointOf(context);
      return toDelivery(await inTransaction(db, (trx) => testEndpoint(trx, context.actor, id)));
    }),

    deliveries: procedure(routes.deliveries, async (context) => {
      await allow(context, context.input.organizationId);
      await checkEndpointOf(db, context.input);
      const page = await listDeliveries(db, cursors, { ...context.input, hidesAudit: !readsAudit(context, context.input.organizationId) });
      return { items: page.items.map(toDelivery), nextCursor: page.nextCursor };
    }),

    delivery: procedure(routes.delivery, async (context) => toDelivery(await deliveryOf(context))),

    resend: procedure(routes.resend, async (context) => {
      const delivery = await deliveryOf(context);
      return toDelivery(await inTransaction(db, (trx) => resendDelivery(trx, context.actor, delivery)));
    }),

    resendMany: procedure(routes.resendMany, async (context) => {
      const { organizationId, endpointId, status, event, from, to, cursor, dryRun } = context.input;
      await allow(context, organizationId);
      await checkEndpointOf(db, context.input);
      const filter = { organizationId, endpointId, status, event, from, to, cursor, dryRun };
      return await inTransaction(db, (trx) => resendDeliveries(trx, context.actor, cursors, filter));
    }),
  };
}
