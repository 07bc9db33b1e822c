import { expect } from 'chai';
import { sql } from 'kysely';
import { addEndpoint, webhooksOn } from '../adapters/webhooks/support.ts';
import type { Tenant } from '../support/api.ts';
import { until } from '../support/processes.ts';
import { startReceiver } from '../support/receiver.ts';
import { useApi } from '../support/use-api.ts';

const endpoints = 50;

describe('Fairness of webhooks between organizations', () => {
  const { api } = useApi({ process: true, services: ['api', 'worker'], env: webhooksOn });

  const emit = ({ organizationId }: Tenant, events: number) =>
    sql`select emit_webhook(${organizationId}, 'job.succeeded', null, '{}') from generate_series(1, ${events}::int)`.execute(
      api.database.db,
    );

  it(`gives an organization with ${endpoints} endpoints no more turns than one with a single endpoint`, async () => {
    const [large, small] = await Promise.all([api.createTenant(), api.createTenant()]);
    const [ofLarge, ofSmall] = await Promise.all([startReceiver(), startReceiver()]);
    for (let n = 0; n < endpoints; n++) await addEndpoint(api, large, { url: `${ofLarge.url}/${n}` });
    await addEndpoint(api, small, { url: ofSmall.url });
    await emit(large, 40);
    await until(() => ofLarge.received.length > 0);
    const before: number[] = [];
    for (let n = 1; n <= 5; n++) {
      const begun = ofLarge.received.length;
      await emit(small, 1);
      await until(() => ofSmall.received.length === n);
      before.push(ofLarge.received.length - begun);
    }
    expect(ofLarge.received.length, 'the backlog is still there').to.be.below(endpoints * 35);
    expect(before.toSorted((a, b) => a - b)[2], String(before)).to.be.below(endpoints / 2);
    await Promise.all([ofLarge.stop(), ofSmall.stop()]);
  }).timeout(240_000);
});
