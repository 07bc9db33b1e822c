import { MockActivityEnvironment } from '@temporalio/testing';
import { expect } from 'chai';
import type { ActivityDeps } from '../../activities/deps.ts';
import { Embedder } from '../../activities/embedder.ts';
import { reindexActivities } from '../../activities/reindex.ts';
import { createAiClient } from '../../adapters/ai-service/client.ts';
import { chunkingOf, chunkSize } from '../../domain/chunking/chunking.ts';
import { noteDown } from '../../domain/outages/note-down.ts';
import { insertWorkspaceOfChunks, makeVectors } from '../support/chunks.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { type FakeAi, goodAnswer, startFakeAi } from '../support/fake-ai.ts';

describe('A step of a re-embedding', () => {
  let database: TestDatabase;
  let ai: FakeAi;
  before(async () => {
    [database, ai] = await Promise.all([createTestDatabase({ poolSize: 2 }), startFakeAi()]);
    const chunks = makeVectors(1, 3, 8).map((vector) => ({ model: 'old', vector }));
    await insertWorkspaceOfChunks(database.db, 'one', chunks);
  });
  after(async () => {
    await ai.stop();
    await database.drop();
  });

  it('goes on from what the attempt before has noted of its progress', async () => {
    const reindexEmbedder = new Embedder(createAiClient({ baseUrl: ai.url, token: 'any' }), 1);
    const { stageDocuments } = reindexActivities({ db: database.db, reindexEmbedder } as ActivityDeps);
    const target = { model: 'fake', dimensions: 2, chunking: chunkingOf(chunkSize) };
    const page = { workspaceId: 'one', target, after: '', limit: 10 };
    const environment = new MockActivityEnvironment({ heartbeatDetails: { staged: 3, chunks: 7, failed: [] } });
    const batch = await environment.run(stageDocuments, page);
    expect(batch).to.deep.equal({ staged: 4, chunks: 8, failed: [], after: 'one', last: true });
  });

  it('does not take a provider that is down for now for the fault of a document, and does not ask one that is known to be down', async () => {
    const reindexEmbedder = new Embedder(createAiClient({ baseUrl: ai.url, token: 'any' }), 1);
    const { stageDocuments } = reindexActivities({ db: database.db, reindexEmbedder } as ActivityDeps);
    const page = { workspaceId: 'one', target: { model: 'another', dimensions: 2, chunking: chunkingOf(chunkSize) }, after: '', limit: 10 };
    const failure = () => new MockActivityEnvironment().run(stageDocuments, page).catch((error) => error);
    // It is there for other calls.
    const provider = { role: 'embed', state: 'failing' };
    const away = { status: 502, body: { error: { code: 'remote_failed', message: 'Down.', provider } } };
    ai.behave('embed', (call) => (call.body.texts[0] === 'a' ? goodAnswer(call) : away));
    expect(await failure()).to.include({ type: 'ai_failed', nonRetryable: false });

    await noteDown(database.db, { part: 'embed', cause: 'failing' }, { isProbe: false, probeDelaysMs: [60_000] });
    const before = ai.calls.length;
    expect(await failure()).to.include({ type: 'provider_away', nonRetryable: false, nextRetryDelay: 60_000 });
    expect(ai.calls.slice(before).filter(({ operation }) => operation === 'embed')).to.deep.equal([]);
  });
});
