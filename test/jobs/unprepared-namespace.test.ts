import { expect } from 'chai';
import { pino } from 'pino';
import { prepareNamespace } from '../../adapters/temporal/namespace.ts';
import { createOutbox } from '../../adapters/temporal/outbox.ts';
import { startJob, workflowIds } from '../../contract/intents/definitions.ts';
import { addToOutbox } from '../../db/outbox.ts';
import { inTransaction } from '../../db/transaction.ts';
import { createTestDatabase } from '../support/database.ts';
import { until } from '../support/processes.ts';
import { createTestNamespace } from '../support/temporal.ts';

describe('Intents for a namespace that no worker has prepared', () => {
  it('wait, and are dispatched as soon as a worker has registered the search attributes', async () => {
    const [database, temporal] = await Promise.all([createTestDatabase(), createTestNamespace()]);
    const { db } = database;
    const said: string[] = [];
    const log = pino({ level: 'info' }, { write: (line: string) => void said.push(JSON.parse(line).msg) });
    const jobs = ['one', 'two', 'three'];
    await inTransaction(db, async (trx) => {
      for (const jobId of jobs) {
        const job = { jobId, kind: 'text.summarize', maxAttempts: 4, organizationId: 'o', workspaceId: null, documentId: null } as const;
        addToOutbox(trx, startJob(job, undefined));
      }
    });
    await db.updateTable('outbox').set({ lease_until: null }).execute();
    const outbox = createOutbox({ db, client: temporal.client, log, settings: { timeoutMs: 1_000, retryDelaysMs: [10_000] } });
    outbox.start();
    try {
      const tried = () => db.selectFrom('outbox').select(['attempts', 'last_error', 'lease_until']).orderBy('attempts', 'desc').execute();
      let [most] = await tried();
      await until(async () => {
        [most] = await tried();
        return (most?.attempts ?? 0) >= 4;
      });
      expect(most?.last_error).to.match(/search attribute/);
      // They do not wait longer and longer.
      expect((most?.lease_until?.getTime() ?? 0) - Date.now()).to.be.at.most(1_000);
      await prepareNamespace(temporal.client, temporal.namespace);
      await until(async () => (await tried()).length === 0);
      for (const jobId of jobs) await temporal.client.workflow.getHandle(workflowIds.runJob(jobId)).describe();
      expect(said).to.include('Temporal is reachable again; the intents that waited are sent');
      expect(said).to.not.include('an intent could not be dispatched; it is tried again');
    } finally {
      await outbox.stop();
      await temporal.close();
      await database.drop();
    }
  });
});
