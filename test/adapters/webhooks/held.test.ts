import { expect } from 'chai';
import { sql } from 'kysely';
import { holdLostDeliveries, sweepHeldDeliveries } from '../../../domain/webhooks/held-deliveries.ts';
import { syncWebhookSwitch } from '../../../domain/webhooks/sync-switch.ts';
import { nightly } from '../../support/nightly.ts';
import { until } from '../../support/processes.ts';
import { type Receiver, startReceiver } from '../../support/receiver.ts';
import { withoutSweeps } from '../../support/sweeps.ts';
import { withTimes } from '../../support/times.ts';
import { useApi } from '../../support/use-api.ts';
import { addEndpoint, call, deliveriesOf, webhooksOn } from './support.ts';

/** How many deliveries to one endpoint a process has under way: eight are sent, and eight wait for them. */
const underWay = 16;

describe('Webhooks to an endpoint that fails, or takes no more', () => {
  // Longer than what waits for others has patience.
  const env = withTimes({ webhookRequest: 40_000, webhookRetryDelays: [600_000] }, webhooksOn);
  const used = useApi({ env, tenant: 'of each test', check: 'after each test' });
  const { api } = used;
  let receiver: Receiver;
  let endpointId: string;
  beforeEach(async () => {
    receiver = await startReceiver();
    endpointId = (await addEndpoint(api, used.tenant, { url: receiver.url })).id;
  });
  afterEach(() => receiver.stop());

  const emit = (events: number) =>
    sql`select emit_webhook(${used.tenant.organizationId}, 'job.succeeded', null, '{}') from generate_series(1, ${events}::int)`.execute(
      api.database.db,
    );
  const deliveries = () =>
    api.database.db
      .selectFrom('webhook_delivery')
      .select(['held', 'status', 'error'])
      .where('endpoint_id', '=', endpointId)
      .orderBy('created_at')
      .execute();
  const held = async () => (await deliveries()).filter((each) => each.held).length;
  const eventIds = () => new Set(receiver.received.map(({ headers }) => headers['webhook-id']));

  /** Has events fail one after another. */
  async function fail(events: number): Promise<void> {
    receiver.behave({ status: 500 });
    for (let failed = 1; failed <= events; failed++) {
      await emit(1);
      await until(async () => (await deliveries()).filter(({ error }) => error !== null).length === failed);
    }
  }
  const age = () =>
    sql`update webhook_delivery set created_at = created_at - interval '61 seconds' where endpoint_id = ${endpointId}`.execute(
      api.database.db,
    );

  nightly('wait once three have failed, and follow each other once it takes one', () =>
    withoutSweeps(api, async () => {
      await fail(3);
      await emit(20);
      expect(await held()).to.equal(20);
      receiver.behave({});
      await syncWebhookSwitch(api.database.db, false);
      await sweepHeldDeliveries(api.database.db);
      expect(await held(), 'webhooks are off').to.equal(20);
      await syncWebhookSwitch(api.database.db, true);
      await sweepHeldDeliveries(api.database.db);
      await until(async () => (await deliveries()).filter(({ status }) => status === 'delivered').length === 20);
      expect(await held()).to.equal(0);
      expect(receiver.received).to.have.length(23);
      expect(eventIds()).to.have.length(23);
      await emit(1);
      await until(() => receiver.received.length === 24);
    }),
  );

  it('go out at once if two have failed, if three in more than a minute, or if one was accepted since', () =>
    withoutSweeps(api, async () => {
      await fail(2);
      await age();
      receiver.received.splice(0);
      await emit(1);
      await until(() => receiver.received.length === 1);
      receiver.behave({});
      await emit(1);
      await until(async () => (await deliveries()).some(({ status }) => status === 'delivered'));
      await sql`update webhook_delivery set error = 'It failed.' where endpoint_id = ${endpointId}`.execute(api.database.db);
      await emit(5);
      expect(await held()).to.equal(0);
      await until(() => receiver.received.length === 7);
    }));

  nightly('go out one by one while it still fails, and before what comes later', () =>
    withoutSweeps(api, async () => {
      await fail(3);
      await emit(3);
      await sweepHeldDeliveries(api.database.db);
      await until(() => receiver.received.length === 4);
      expect(await held()).to.equal(2);
      await age();
      await emit(1);
      expect(await held(), 'others wait before it').to.equal(3);
      const listed = await deliveriesOf(api, used.tenant, '&status=pending');
      expect(listed.filter(({ attempts, nextAttemptAt }) => attempts.length === 0 && nextAttemptAt === null)).to.have.length(3);
    }),
  );

  it('take no more at once than it may have, and all arrive once', () =>
    withoutSweeps(api, async () => {
      let open = () => {};
      const after = new Promise<void>((resolve) => {
        open = resolve;
      });
      receiver.behave({ after });
      await emit(60);
      await until(async () => (await held()) >= 60 - underWay);
      await emit(1);
      expect(await held()).to.be.within(61 - underWay, 61 - 8);
      open();
      await until(async () => (await deliveries()).every(({ status }) => status === 'delivered'));
      expect(receiver.mostOpen).to.equal(8);
      expect(receiver.received).to.have.length(61);
      expect(eventIds()).to.have.length(61);
    }));

  it('are recorded once they are accepted, also if they were held meanwhile', () =>
    withoutSweeps(api, async () => {
      const accepting = Promise.withResolvers<void>();
      receiver.behave({ after: accepting.promise });
      await emit(1);
      await until(() => receiver.received.length === 1);
      await api.database.db.updateTable('webhook_delivery').set({ held: true }).where('endpoint_id', '=', endpointId).execute();
      accepting.resolve();
      await until(async () => (await deliveries())[0]?.status === 'delivered');
      expect([await held(), receiver.received.length]).to.deep.equal([0, 1]);
    }));

  it('are sent although their workflow is gone', () =>
    withoutSweeps(api, async () => {
      await fail(1);
      expect(await holdLostDeliveries(api.database.db), 'it waits for its time').to.equal(0);
      const { db } = api.database;
      const { id } = await db.selectFrom('webhook_delivery').select('id').where('endpoint_id', '=', endpointId).executeTakeFirstOrThrow();
      await api.temporal.client.workflow.getHandle(`webhook-${id}`).terminate();
      const hoursAgo = sql<Date>`now() - interval '2 hours'`;
      await db.updateTable('webhook_delivery').set({ next_attempt_at: hoursAgo }).where('id', '=', id).execute();
      expect(await holdLostDeliveries(db)).to.equal(1);
      receiver.behave({});
      await sweepHeldDeliveries(db);
      await until(async () => (await deliveries())[0]?.status === 'delivered');
    }));

  it('do not disable it by a first failure, however long before it failed the last time, or at another address', () =>
    withoutSweeps(api, async () => {
      const { db } = api.database;
      const weekAgo = sql<Date>`now() - interval '7 days'`;
      await db.updateTable('webhook_endpoint').set({ failing_since: weekAgo }).where('id', '=', endpointId).execute();
      await fail(1);
      expect(await call(api, used.tenant, 'GET', `/webhooks/${endpointId}`)).to.include({ enabled: true });
      const moved = await call(api, used.tenant, 'PATCH', `/webhooks/${endpointId}`, { url: `${receiver.url}/moved` });
      expect(moved).to.include({ failingSince: null });
    }));

  for (const [change, method, body, error] of [
    ['disabled', 'PATCH', { enabled: false }, 'The endpoint is disabled.'],
    ['deleted', 'DELETE', undefined, 'The endpoint was deleted.'],
  ] as const)
    it(`end if it is ${change}`, () =>
      withoutSweeps(api, async () => {
        await fail(3);
        await emit(3);
        expect(await held()).to.equal(3);
        await call(api, used.tenant, method, `/webhooks/${endpointId}`, body);
        await sweepHeldDeliveries(api.database.db);
        const ended = (await deliveries()).filter((each) => each.error === error);
        expect(ended.map(({ held, status }) => [held, status])).to.deep.equal(Array(3).fill([false, 'failed']));
      }));
});
