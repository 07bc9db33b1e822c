import { expect } from 'chai';
import { pino } from 'pino';
import { createTemporalClient } from '../../adapters/temporal/connect.ts';
import { createOutbox, type Outbox } from '../../adapters/temporal/outbox.ts';
import { signalJobCanceled, startObjectDeletion } from '../../contract/intents/definitions.ts';
import { amountsOf, createJob, insertJobOnly, resultOf, summary } from '../support/jobs.ts';
import { nightly } from '../support/nightly.ts';
import { until } from '../support/processes.ts';
import { staysTrue } from '../support/stays-true.ts';
import { useApi } from '../support/use-api.ts';

describe('The outbox', () => {
  const { api, ai, tenant } = useApi({ ai: true, check: 'at the end' });

  const outboxRows = () => api.database.db.selectFrom('outbox').selectAll().orderBy('id').execute();
  const expire = () =>
    api.database.db
      .updateTable('outbox')
      .set({ lease_until: new Date(0) })
      .execute();
  const runsOf = async (id: string) => {
    const runs = [];
    for await (const run of api.temporal.client.workflow.list({ query: `WorkflowId = 'job-${id}'` })) runs.push(run);
    return runs;
  };

  it('is empty once everything is dispatched', async () => {
    const { id } = await createJob(api, tenant, summary);
    await api.jobIn(tenant.owner.token, id, ['succeeded']);
    await until(async () => (await outboxRows()).length === 0);
  });

  nightly('starts a job whose process died between the commit and the dispatch', async () => {
    const { job } = await insertJobOnly(api, tenant, summary);
    expect(await outboxRows()).to.have.lengthOf(1);
    await expire();
    expect(await api.jobIn(tenant.owner.token, job.id, ['succeeded'])).to.include({ attempts: 1 });
    await until(async () => (await outboxRows()).length === 0);
  });

  nightly('leaves an intent to the process that wrote it while its lease lasts', async () => {
    const { message } = await insertJobOnly(api, tenant, summary);
    const { lease_until: lease } = await api.database.db
      .selectFrom('outbox')
      .select('lease_until')
      .where('id', '=', message.id)
      .executeTakeFirstOrThrow();
    await until(async () => (await outboxRows()).length === 0);
    const { startTime } = await api.temporal.client.workflow.getHandle(message.intent.workflowId).describe();
    expect(startTime.getTime()).to.be.at.least((lease ?? new Date(Number.NaN)).getTime());
  });

  nightly('delivers an intent twice without harm, while the job runs and once it is over', async () => {
    const { job, message } = await insertJobOnly(api, tenant, summary);
    const again = () =>
      api.database.db
        .insertInto('outbox')
        .values({ workflow_id: message.intent.workflowId, intent: JSON.stringify(message.intent), lease_until: new Date(0) })
        .execute();
    const free = Promise.withResolvers<void>();
    ai.behave('summarize', async () => {
      await free.promise;
      return { body: { summary: 'Once.', sentences: 1, model: 'fake', characters: 3 } };
    });
    await expire();
    await until(() => ai.callsOf(job.id) === 1);
    await again();
    await until(async () => (await outboxRows()).length === 0);
    expect(await runsOf(job.id)).to.have.lengthOf(1);
    free.resolve();
    await api.jobIn(tenant.owner.token, job.id, ['succeeded']);
    await api.temporal.client.workflow.getHandle(message.intent.workflowId).result();

    await again();
    await until(async () => (await outboxRows()).length === 0);

    await until(async () => (await runsOf(job.id)).length === 2);
    expect(await api.temporal.client.workflow.getHandle(message.intent.workflowId).result()).to.deep.equal({ status: 'succeeded' });
    expect(ai.callsOf(job.id)).to.equal(1);
    expect(await amountsOf(api, job.id)).to.deep.equal([5]);
    ai.behave('summarize');
  });

  nightly('keeps the order of a workflow: a signal waits for its start', async () => {
    const { job, message } = await insertJobOnly(api, tenant, { ...summary, maxAttempts: 1 });
    const { db } = api.database;
    // Another process holds the start for a while; the signal after it is anybody's.
    await db
      .updateTable('outbox')
      .set({ lease_until: new Date(Date.now() + 60_000) })
      .where('id', '=', message.id)
      .execute();
    await db
      .insertInto('outbox')
      .values({
        workflow_id: message.intent.workflowId,
        intent: JSON.stringify(signalJobCanceled(job.id, tenant.organizationId)),
        lease_until: new Date(0),
      })
      .execute();
    // The relay looks once a second.
    await staysTrue(async () => {
      const rows = await outboxRows();
      return rows.map(({ intent, attempts }) => `${intent.operation} ${attempts}`).join() === 'start 0,signal 0';
    }, 2_200);
    await expire();
    await api.jobIn(tenant.owner.token, job.id, ['succeeded']);
    await until(async () => (await outboxRows()).length === 0);
  });

  nightly('drops a signal to a workflow that is over, and does not say that it tries again', async () => {
    const { id } = await createJob(api, tenant, summary);
    await api.jobIn(tenant.owner.token, id, ['succeeded']);
    await resultOf(api, id);
    await api.database.db
      .insertInto('outbox')
      .values({ workflow_id: `job-${id}`, intent: JSON.stringify(signalJobCanceled(id, tenant.organizationId)), lease_until: new Date(0) })
      .execute();
    await until(async () => (await outboxRows()).length === 0);
    const said = api.stack
      .readLog('api')
      .split('\n')
      .filter((line) => line.includes(`job-${id}`));
    expect(said.filter((line) => line.includes('could not be dispatched'))).to.deep.equal([]);
  });

  nightly('puts back what Temporal refuses, and notes why', async () => {
    const { db } = api.database;
    const workflowId = 'w'.repeat(2_000);
    const intent = JSON.stringify({ ...startObjectDeletion('o'), workflowId });
    await db
      .insertInto('outbox')
      .values({ workflow_id: workflowId, intent, lease_until: new Date(0) })
      .execute();
    await until(async () => ((await outboxRows())[0]?.attempts ?? 0) >= 2);
    expect((await outboxRows())[0]?.last_error).to.be.a('string');
    // It holds up no other.
    const { id } = await createJob(api, tenant, summary);
    await api.jobIn(tenant.owner.token, id, ['succeeded']);
    await db.deleteFrom('outbox').where('workflow_id', 'like', 'www%').execute();
  });

  nightly('serves several relays at once: each intent goes out, and each job has one effect', async () => {
    const relays: { outbox: Outbox; close(): Promise<unknown> }[] = [];
    for (let n = 0; n < 3; n++) {
      const client = createTemporalClient({
        address: api.temporal.address,
        namespace: api.temporal.namespace,
        apiKey: undefined,
        tls: { ca: undefined, cert: undefined, key: undefined },
        payloadKeys: { current: undefined, known: [] },
        uiUrl: 'http://localhost',
      });
      const outbox = createOutbox({
        db: api.database.db,
        client,
        log: pino({ level: 'silent' }),
        settings: { timeoutMs: 60_000, retryDelaysMs: [10_000] },
      });
      relays.push({ outbox, close: () => outbox.stop().then(() => client.connection.close()) });
    }
    const jobs = await Promise.all(
      Array.from({ length: 30 }, () => insertJobOnly(api, tenant, { kind: 'text.embed', texts: ['x'] } as never)),
    );
    await expire();
    for (const { outbox } of relays) outbox.start();

    for (const { job } of jobs) {
      expect(await api.jobIn(tenant.owner.token, job.id, ['succeeded'])).to.include({ attempts: 1 });
      expect(ai.callsOf(job.id)).to.equal(1);
      expect(await runsOf(job.id)).to.have.lengthOf(1);
    }
    await until(async () => (await outboxRows()).length === 0);
    await Promise.all(relays.map(({ close }) => close()));
  });
});
