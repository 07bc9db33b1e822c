import { createServer, type Server } from 'node:http';
import { json } from 'node:stream/consumers';
import { expect } from 'chai';
import { inTransaction } from '../../db/transaction.ts';
import { chunkingOf, chunkSize } from '../../domain/chunking/chunking.ts';
import { getDocument } from '../../domain/documents/document.ts';
import { storeText } from '../../domain/documents/document-text.ts';
import { storeChunks } from '../../domain/search/store-chunks.ts';
import { findFreePorts } from '../../local/ports.ts';
import type { ReindexInput } from '../../workflows/inputs.ts';
import { noOutline } from '../support/outline.ts';
import { until } from '../support/processes.ts';
import { withTimes } from '../support/times.ts';
import { useApi } from '../support/use-api.ts';

/** Speaks as much of the AI service's protocol as an embedding needs. */
function startAi(port: number): Promise<Server> {
  const server = createServer((req, res) => {
    res.setHeader('content-type', 'application/json');
    const own = { model: 'local-hash-256', dimensions: 2 };
    const embeddings = [{ ...own, chunk_characters: chunkSize.characters, texts_per_call: 32 }];
    if (req.url === '/health')
      return void res.end(JSON.stringify({ ok: true, provider: 'local', ocr: 'none', auth: 'on', problems: [], embeddings }));
    void json(req).then((body: any) => {
      const floats = Buffer.from(Float32Array.of(1, 0).buffer).toString('base64');
      res.end(JSON.stringify({ ...own, vectors: [body.encoding_format === 'base64' ? floats : [1, 0]] }));
    });
  });
  return new Promise((resolve) => server.listen(port, '127.0.0.1', () => resolve(server)));
}

describe('JOBS_HOLD_ON_OUTAGE', () => {
  let port = 0;
  let ai: Server | undefined;

  const { api, tenant } = useApi({
    async env() {
      // Nothing answers there until the service is started.
      [port = 0] = await findFreePorts(1);
      const AI_SERVICE_URL = `http://127.0.0.1:${port}`;
      return withTimes({ jobRetryDelays: [100] }, { JOBS_HOLD_ON_OUTAGE: 'true', AI_SERVICE_URL, LOG_LEVEL: 'info' });
    },
  });
  after(() => ai?.close());

  it('lets jobs wait without spending attempts while the AI service is down, says why, and goes on by itself', async () => {
    const { token } = tenant.owner;
    const body = { organizationId: tenant.organizationId, kind: 'text.embed', texts: ['a'] };
    const create = async () => (await api.request('POST', '/api/v1/jobs', { token, body })).body.id as string;
    const first = await create();
    await until(() => api.stack.readLog('api').includes('the AI service is down'));
    const spent = (await api.request('GET', `/api/v1/jobs/${first}`, { token })).body.attempts;
    // The first attempt asks how to embed and embeds; the third call is the second attempt's.
    expect(spent).to.equal(2);

    const later = [await create(), await create()];
    await until(async () => {
      const described = await api.temporal.client.workflow
        .getHandle(`job-${later[0]}`)
        .describe()
        .catch(() => undefined);
      const pending = described?.raw.pendingActivities?.[0]?.heartbeatDetails?.payloads?.[0]?.data;
      return pending ? Buffer.from(pending).toString().includes('The AI service is down') : false;
    });
    for (const id of later) expect((await api.jobIn(token, id, ['queued'])).attempts).to.equal(0);

    ai = await startAi(port);
    for (const id of [first, ...later]) await api.jobIn(token, id, ['succeeded']);
    for (const id of later) expect((await api.jobIn(token, id, ['succeeded'])).attempts).to.equal(1);
  });

  it('lets a re-embedding wait, which shows that it is alive', async () => {
    const { db } = api.database;
    const { organizationId, workspaceId } = tenant;
    const [place, old] = [
      { organization_id: organizationId, workspace_id: workspaceId },
      { model: 'old', dimensions: 2, chunking: '1' },
    ];
    const { id } = await api.upload(tenant, { bytes: 'A text.' });
    const row = await getDocument(db, id);
    const extracted = { text: 'A text.', characters: 7, pages: null, truncated: false, outline: noOutline };
    await inTransaction(db, (trx) => storeText(trx, row, extracted));
    await inTransaction(db, (trx) => storeChunks(trx, row, old, [{ text: 'A text.', embedding: [1, 0] }]));
    await db
      .insertInto('workspace_index')
      .values({ workspace_id: place.workspace_id, ...old })
      .execute();
    const downs = () => api.stack.readLog('api').split('the AI service is down').length;
    const before = downs();
    ai?.closeAllConnections();
    ai?.close();
    const { token } = tenant.owner;
    const { body } = await api.request('POST', '/api/v1/jobs', { token, body: { organizationId, kind: 'text.embed', texts: ['a'] } });
    await until(() => downs() > before);

    const target = { model: 'local-hash-256', dimensions: 2, chunking: chunkingOf(chunkSize) };
    const input: ReindexInput = { workspaceId, target };
    const run = await api.temporal.client.workflow.start('reindexDocuments', { taskQueue: 'sheaf', workflowId: 'waits', args: [input] });
    await until(async () => {
      const [activity] = (await run.describe()).raw.pendingActivities ?? [];
      return activity?.activityType?.name === 'stageDocuments' && activity.lastHeartbeatTime != null;
    });
    ai = await startAi(port);
    expect(await run.result()).to.include({ embedded: 1, switched: 1 });
    await api.jobIn(token, body.id, ['succeeded']);
  });
});
