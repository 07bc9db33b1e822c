import { expect } from 'chai';
import { createJob } from '../../support/jobs.ts';
import { nightly } from '../../support/nightly.ts';
import { until } from '../../support/processes.ts';
import { startReceiver } from '../../support/receiver.ts';
import { withTimes } from '../../support/times.ts';
import { useApi } from '../../support/use-api.ts';
import { addEndpoint, deliveriesOf, webhooksOn } from './support.ts';

describe('A worker that is killed in the middle of its webhooks', () => {
  const env = withTimes({ webhookRequest: 45_000 }, webhooksOn);
  const { api, tenant } = useApi({ process: true, ai: true, services: ['api', 'worker'], env });

  nightly('loses none: what it had sent without an answer is sent again, under the same id', async () => {
    const [slow, live] = [await startReceiver(), await startReceiver()];
    slow.behave({ never: true });
    await addEndpoint(api, tenant, { url: slow.url });
    await addEndpoint(api, tenant, { url: live.url });
    const create = () => createJob(api, tenant, { kind: 'text.embed', texts: ['one'] });
    const jobs = [await create(), await create(), await create()];
    await until(() => slow.received.length === 3 && live.received.length === 3);
    const cut = new Set(slow.received.map(({ headers }) => headers['webhook-id']));

    await api.stack.kill('worker', 'SIGKILL');
    jobs.push(await create());
    slow.behave({});
    await api.stack.start('worker');
    await until(async () => {
      const deliveries = await deliveriesOf(api, tenant);
      return deliveries.length === 8 && deliveries.every(({ status }) => status === 'delivered');
    }, 180_000);
    const ids = jobs.map(({ id }) => id).sort();
    for (const { received } of [slow, live]) expect([...new Set(received.map(({ event }) => event.data.jobId))].sort()).to.deep.equal(ids);
    const again = slow.received.slice(3).map(({ headers }) => headers['webhook-id']);
    expect(again).to.include.members([...cut]);
    // The row knows only of the attempt whose end was seen.
    for (const { attempts } of await deliveriesOf(api, tenant)) expect(attempts).to.have.length(1);
    await Promise.all([slow.stop(), live.stop()]);
  });
});
