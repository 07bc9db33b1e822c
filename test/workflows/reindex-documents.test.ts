import type { WorkflowHandle } from '@temporalio/client';
import { expect } from 'chai';
import { sql } from 'kysely';
import type { ReindexInput, ReindexProgress } from '../../contract/intents/inputs.ts';
import { inTransaction } from '../../db/transaction.ts';
import { lockWorkspaceIndex } from '../../domain/locks.ts';
import type { Tenant } from '../support/api.ts';
import { type AiCall, aiError } from '../support/fake-ai.ts';
import { createJob, creditsUsed, historySoFar } from '../support/jobs.ts';
import { nightly } from '../support/nightly.ts';
import { until } from '../support/processes.ts';
import { withTimes } from '../support/times.ts';
import { useApi } from '../support/use-api.ts';

/** The dimensions of the models that the fake service has. */
const dimensionsOf: Record<string, number> = { old: 2, new: 3 };
const chunkCharacters: Record<string, number> = { old: 1_200, new: 60 };

describe('reindexDocuments', () => {
  const { api, ai, tenant } = useApi({
    ai: true,
    tenant: 'of each test',
    env: withTimes({ jobRetryDelays: [200] }, { SEARCH_LIMIT_PER_MINUTE: '1000' }),
    check: 'after each test',
  });

  /** The model that the service embeds with unless it is asked for another that it has. */
  let own: string;
  function serve(model: string): void {
    own = model;
    const all = [model, ...Object.keys(dimensionsOf).filter((name) => name !== model)];
    ai.embeddings = all.map((name) => ({
      model: name,
      dimensions: dimensionsOf[name] ?? null,
      chunk_characters: chunkCharacters[name] ?? 0,
      texts_per_call: 32,
    }));
  }
  function embed({ body }: AiCall) {
    const model = body.model in dimensionsOf ? body.model : own;
    const dimensions = dimensionsOf[model] ?? 0;
    const vectors = body.texts.map((text: string) => Array.from({ length: dimensions }, (_, index) => 1 + ((text.length + index) % 3)));
    return { body: { model, dimensions, vectors } };
  }
  beforeEach(() => {
    serve('old');
    ai.behave('embed', embed);
    ai.calls.length = 0;
  });

  const sentence = (name: string) => `This is the text of ${name}, which tells of bees. It has another sentence, which tells of honey.`;
  async function index(of: Tenant, name: string): Promise<string> {
    const { id } = await api.upload(of, { name, bytes: sentence(name) });
    const job = await createJob(api, of, { kind: 'document.index', documentId: id });
    await api.jobIn(of.owner.token, job.id, ['succeeded']);
    return id;
  }
  async function search(mode = 'semantic', of = tenant): Promise<{ model: string; names: string[]; chunks: number }> {
    const path = `/api/v1/workspaces/${of.workspaceId}/documents/search`;
    const { status, body } = await api.request('POST', path, { token: of.owner.token, body: { query: 'bees', mode, limit: 50 } });
    expect(status, JSON.stringify(body)).to.equal(200);
    const names: string[] = body.results.map(({ documentName }: { documentName: string }) => documentName);
    return { model: body.model, names: [...new Set(names)].sort(), chunks: names.length };
  }
  /** Whether a call embeds the text of a document by the service's own model. */
  const isNew = ({ body }: AiCall, name: string) => !body.model && body.texts.some((text: string) => text.includes(`text of ${name}`));
  let runs = 0;
  const start = (input: ReindexInput) =>
    api.temporal.client.workflow.start('reindexDocuments', { taskQueue: 'sheaf', workflowId: `reindex-${++runs}`, args: [input] });
  const reindex = async (input: ReindexInput): Promise<ReindexProgress> => (await start(input)).result() as Promise<ReindexProgress>;
  const only = () => ({ workspaceId: tenant.workspaceId, perMinute: 60_000 });
  const stagedRows = (of = tenant) =>
    api.database.db.selectFrom('staged_index').select('document_id').where('workspace_id', '=', of.workspaceId).execute();
  const textsBy = (model: string) =>
    ai.calls.filter((call) => call.operation === 'embed' && embed(call).body.model === model).flatMap(({ body }) => body.texts);

  it('searches by the old vectors until all documents of the workspace have new ones, then switches at once, and charges nobody', async () => {
    for (const name of ['a', 'b', 'c']) await index(tenant, name);
    const before = { model: 'old', names: ['a', 'b', 'c'], chunks: 3 };
    expect(await search()).to.deep.equal(before);
    serve('new');
    expect(await search(), 'before it began').to.deep.equal(before);
    const used = await creditsUsed(api, tenant.organizationId);

    const goOn = Promise.withResolvers<void>();
    ai.behave('embed', async (call) => {
      if (!call.body.model && call.body.texts.some((text: string) => text.includes('text of c'))) await goOn.promise;
      return embed(call);
    });
    const run = await start(only());
    await until(async () => (await stagedRows()).length === 2);
    expect(await search(), 'while two of three are embedded').to.deep.equal(before);
    await index(tenant, 'd');
    expect(await search(), 'with one that was indexed meanwhile').to.deep.equal({ model: 'old', names: ['a', 'b', 'c', 'd'], chunks: 4 });
    goOn.resolve();
    expect(await run.result()).to.deep.include({ workspaces: 1, behind: 3, embedded: 4, chunks: 8, switched: 4, kept: 0, failures: 0 });

    const after = { model: 'new', names: ['a', 'b', 'c', 'd'], chunks: 8 };
    expect(await search()).to.deep.equal(after);
    expect(await search('hybrid')).to.deep.equal(after);
    expect((await search('lexical')).names).to.deep.equal(after.names);
    expect(await stagedRows()).to.deep.equal([]);
    const price = await creditsUsed(api, tenant.organizationId);
    const jobs = await sql<{ credits: number }>`select credits from job where organization_id = ${tenant.organizationId} limit 1`.execute(
      api.database.db,
    );
    expect(price - used, 'one job was ordered by the tenant').to.equal(jobs.rows[0]?.credits);
    await index(tenant, 'e');
    expect((await search()).names).to.deep.equal(['a', 'b', 'c', 'd', 'e']);
  });

  it('never shows a search some documents by the old and others by the new vectors', async () => {
    for (const name of ['a', 'b', 'c', 'd']) await index(tenant, name);
    serve('new');
    let over = false;
    const run = reindex(only()).finally(() => {
      over = true;
    });
    const models = new Set<string>();
    while (!over) {
      for (const mode of ['semantic', 'hybrid']) {
        const { model, names, chunks } = await search(mode);
        models.add(model);
        expect({ names, chunks }).to.deep.equal({ names: ['a', 'b', 'c', 'd'], chunks: model === 'old' ? 4 : 8 });
      }
      expect((await search('lexical')).names).to.deep.equal(['a', 'b', 'c', 'd']);
    }
    await run;
    expect((await search()).model).to.equal('new');
    expect([...models]).to.include('old');
  });

  it('does not embed again what was embedded before it was broken off', async () => {
    for (const name of ['a', 'b', 'c']) await index(tenant, name);
    serve('new');
    let refused = 0;
    ai.behave('embed', (call) => {
      if (call.body.model || !call.body.texts.some((text: string) => text.includes('text of c')) || refused++ > 0) return embed(call);
      return aiError(429, 'busy');
    });
    ai.calls.length = 0;
    expect(await reindex(only())).to.include({ embedded: 3, switched: 3 });
    expect(refused).to.equal(2);
    for (const name of ['a', 'b']) expect(textsBy('new').filter((text) => text.includes(`text of ${name}`))).to.have.length(1);
  });

  it('keeps the old vectors of a workspace with a document that cannot be embedded, and names it', async () => {
    for (const name of ['a', 'b']) await index(tenant, name);
    const refusedId = await index(tenant, 'c');
    serve('new');
    ai.behave('embed', (call) =>
      !call.body.model && call.body.texts.some((text: string) => text.includes('text of c')) ? aiError(422, 'unreadable') : embed(call),
    );
    const progress = await reindex(only());
    expect(progress).to.deep.include({ embedded: 2, switched: 0, kept: 1, failures: 1 });
    expect(progress.failed).to.deep.equal([{ documentId: refusedId, code: 'unreadable' }]);
    expect(await search()).to.deep.equal({ model: 'old', names: ['a', 'b', 'c'], chunks: 3 });
    await api.request('DELETE', `/api/v1/documents/${refusedId}`, { token: tenant.owner.token });
    ai.calls.length = 0;
    expect(await reindex(only())).to.deep.include({ embedded: 0, switched: 2, kept: 0 });
    expect(await search()).to.deep.equal({ model: 'new', names: ['a', 'b'], chunks: 4 });
    expect(textsBy('new').filter((text) => text !== 'a' && text !== 'bees')).to.deep.equal([]);
  });

  nightly('goes on after a document at which the service fails each time, and names it', async () => {
    const brokenId = await index(tenant, 'a');
    await index(tenant, 'b');
    serve('new');
    ai.behave('embed', (call) => (isNew(call, 'a') ? aiError(502, 'remote_failed') : embed(call)));
    const progress = await reindex(only());
    expect(progress).to.deep.include({ embedded: 1, switched: 0, kept: 1, failures: 1 });
    expect(progress.failed).to.deep.equal([{ documentId: brokenId, code: 'remote_failed' }]);
  });

  nightly('names no document while the service fails at all of them', async () => {
    for (const name of ['a', 'b']) await index(tenant, name);
    serve('new');
    let calls = 0;
    ai.behave('embed', (call) => {
      if (call.body.texts.some((text: string) => text.includes('text of a'))) calls += 1;
      // What asks for the target finds it served, and so it begins.
      return calls > 0 && calls < 5 ? aiError(502, 'remote_failed') : embed(call);
    });
    expect(await reindex(only())).to.deep.include({ embedded: 2, switched: 2, kept: 0, failures: 0 });
    expect(calls).to.equal(5);
  });

  /** Makes more documents out of one, as if jobs had indexed them. */
  async function copyDocument(id: string, count: number): Promise<void> {
    const { db } = api.database;
    const ids = sql`generate_series(1, ${count}) as series (n)`;
    await sql`insert into document (id, organization_id, workspace_id, name, content_type, size_bytes, status, object_key, chunk_count, indexed_at)
      select id || '-' || n, organization_id, workspace_id, name, content_type, size_bytes, status, object_key || n, chunk_count, indexed_at
      from document, ${ids} where id = ${id}`.execute(db);
    await sql`insert into chunk (id, organization_id, workspace_id, document_id, index, text, model, embedding)
      select id || '-' || n, organization_id, workspace_id, document_id || '-' || n, index, text, model, embedding
      from chunk, ${ids} where document_id = ${id}`.execute(db);
    await sql`insert into document_text (document_id, text, outline)
      select document_id || '-' || n, text, outline from document_text, ${ids} where document_id = ${id}`.execute(db);
    await sql`insert into document_index (document_id, organization_id, workspace_id, model, dimensions, chunking)
      select document_id || '-' || n, organization_id, workspace_id, model, dimensions, chunking
      from document_index, ${ids} where document_id = ${id}`.execute(db);
  }

  /** The activities of one run, in their order. A page counts batches of up to 2 MB, and a response has no more than 4 MB. */
  async function activitiesOf(workflowId: string, runId: string): Promise<string[]> {
    const { workflowService, options } = api.temporal.client;
    const names: string[] = [];
    let nextPageToken: Uint8Array | undefined;
    do {
      const page = {
        namespace: options.namespace,
        execution: { workflowId, runId },
        maximumPageSize: 1,
        ...(nextPageToken && { nextPageToken }),
      };
      const response = await workflowService.getWorkflowExecutionHistory(page);
      for (const event of response.history?.events ?? []) names.push(event.activityTaskScheduledEventAttributes?.activityType?.name ?? '');
      nextPageToken = response.nextPageToken?.length ? response.nextPageToken : undefined;
    } while (nextPageToken);
    return names.filter((name) => name !== '');
  }

  it('continues as new in the midst of a large workspace, and counts it once', async () => {
    await copyDocument(await index(tenant, 'a'), 60);
    serve('new');
    const [begun, goOn] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    ai.behave('embed', async (call) => {
      if (isNew(call, 'a')) {
        begun.resolve();
        await goOn.promise;
      }
      return embed(call);
    });
    const run = await start(only());
    await begun.promise;
    // Temporal asks a run to continue as new whose history has 4 MB.
    for (let n = 0; n < 12; n += 1) await run.signal('nothingListens', 'x'.repeat(450_000));
    goOn.resolve();
    expect(await run.result()).to.deep.include({ workspaces: 1, behind: 61, embedded: 61, switched: 61, kept: 0 });
    const activities = await activitiesOf(run.workflowId, run.firstExecutionRunId);
    expect(activities.filter((name) => name === 'stageDocuments')).to.have.length(1);
    expect(activities).to.not.include('switchWorkspace');
  });

  /** Lets every switch fail while work is done. */
  async function withoutSwitches<T>(work: () => Promise<T>): Promise<T> {
    const { db } = api.database;
    await sql`create function refuse() returns trigger language plpgsql as 'begin raise exception ''no''; end'`.execute(db);
    await sql`create trigger refuse before update on workspace_index for each row execute function refuse()`.execute(db);
    return await work().finally(() => sql`drop function refuse cascade`.execute(db));
  }

  /** Waits until a switch has failed, and returns what Temporal says of the next try. */
  async function untilSwitchFailed(run: WorkflowHandle) {
    let failed: Awaited<ReturnType<WorkflowHandle['describe']>>['raw']['pendingActivities'];
    await until(async () => {
      const { pendingActivities = [] } = (await run.describe()).raw;
      failed = pendingActivities?.filter(({ activityType, lastFailure }) => activityType?.name === 'switchWorkspace' && lastFailure);
      return failed?.length === 1;
    });
    return failed?.[0];
  }

  /** Has the next tries of a switch follow at once, as an operator can. */
  async function hurrySwitch({ workflowId }: WorkflowHandle): Promise<void> {
    const { workflowService, options } = api.temporal.client;
    await workflowService.updateActivityOptions({
      namespace: options.namespace,
      execution: { workflowId },
      type: 'switchWorkspace',
      activityOptions: { retryPolicy: { initialInterval: { nanos: 1e8 }, maximumInterval: { nanos: 1e8 } } },
      updateMask: { paths: ['retryPolicy.initialInterval', 'retryPolicy.maximumInterval'] },
    });
  }

  it('tries a switch that fails for longer than a database takes to restart, then leaves the workspace as it is, names it, and goes on', async () => {
    await index(tenant, 'a');
    serve('new');
    const run = await start(only());
    const progress = await withoutSwitches(async () => {
      const next = await untilSwitchFailed(run);
      expect(Number(next?.currentRetryInterval?.seconds)).to.be.at.least(60);
      expect(next?.maximumAttempts).to.equal(4);
      await hurrySwitch(run);
      return await run.result();
    });
    const unswitchedIds = [tenant.workspaceId];
    expect(progress).to.deep.include({ embedded: 1, switched: 0, kept: 1, unswitched: 1, unswitchedIds, failures: 0 });
    expect(await search()).to.deep.equal({ model: 'old', names: ['a'], chunks: 1 });
    expect(await reindex(only())).to.deep.include({ embedded: 0, switched: 1, kept: 0 });
  });

  nightly(
    'lets a job wait for a switch that takes long, counts no attempt for that, and does its work once more when it is over',
    async () => {
      const documentId = await index(tenant, 'a');
      const waits = new Set<string>();
      const failures = async (id: string) =>
        (await historySoFar(api, id)).filter(({ type }) => type === 'ActivityTaskFailed').map(({ failure }) => failure);
      const { id } = await inTransaction(api.database.db, async (trx) => {
        const lookForWaits = async () => {
          await sql`select pg_stat_clear_snapshot()`.execute(trx);
          const { rows } = await sql<{ wait: string }>`select pid || ' ' || query_start as wait from pg_stat_activity
          where datname = current_database() and wait_event_type = 'Lock' and query like '%from workspace_index%'`.execute(trx);
          for (const { wait } of rows) waits.add(wait);
          return waits.size;
        };
        await lockWorkspaceIndex(trx, tenant.workspaceId, 'delete');
        const job = await createJob(api, tenant, { kind: 'document.index', documentId, maxAttempts: 1 });
        await until(async () => (await lookForWaits()) > 0 && (await failures(job.id)).length > 0);
        const before = await lookForWaits();
        expect(before, 'waits of the first attempt').to.be.at.least(3);
        await until(async () => (await lookForWaits()) > before);
        expect(ai.callsOf(job.id), 'the next attempt waits before it embeds').to.equal(1);
        return job;
      });
      expect(await api.jobIn(tenant.owner.token, id, ['succeeded'])).to.include({ attempts: 1, maxAttempts: 1, error: null });
      expect(new Set(await failures(id))).to.deep.equal(new Set(['workspace_locked']));
      expect(ai.callsOf(id)).to.equal(2);
    },
  );

  /** Indexes a document; while it is embedded, its text is extracted again, as `extracted` if that is given. */
  async function indexDuringExtraction(id: string, extracted?: string): Promise<{ attempts: number }> {
    const [begun, goOn] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    ai.behave('embed', async (call) => {
      if (!call.body.texts.some((text: string) => text.includes('text of a'))) return embed(call);
      begun.resolve();
      await goOn.promise;
      return embed(call);
    });
    const { token } = tenant.owner;
    const indexing = await createJob(api, tenant, { kind: 'document.index', documentId: id });
    await begun.promise;
    if (extracted !== undefined) {
      const body = { text: extracted, characters: extracted.length, pages: null, truncated: false, content_type: 'text/plain' };
      ai.behave('extract', () => ({ body }));
    }
    const extracting = await createJob(api, tenant, { kind: 'document.extract', documentId: id });
    await api.jobIn(token, extracting.id, ['succeeded']);
    ai.behave('extract');
    goOn.resolve();
    return await api.jobIn(token, indexing.id, ['succeeded']);
  }

  it('indexes a document again whose text was replaced while it was embedded', async () => {
    const replaced = 'Other words about bees.';
    expect(await indexDuringExtraction(await index(tenant, 'a'), replaced)).to.include({ attempts: 2 });
    const path = `/api/v1/workspaces/${tenant.workspaceId}/documents/search`;
    const { token } = tenant.owner;
    const { body } = await api.request('POST', path, { token, body: { query: 'bees', mode: 'lexical', include: ['citation'] } });
    expect(body.results.map(({ text, citation }: any) => [text, citation.start])).to.deep.equal([[replaced, 0]]);
  });

  it('keeps what it has embedded of a document whose text is the same after another extraction', async () => {
    expect(await indexDuringExtraction(await index(tenant, 'a'))).to.include({ attempts: 1 });
  });

  it('refuses an input that it would misread: a workspace that is mistyped would be all of them', async () => {
    for (const input of [{ workspaceID: tenant.workspaceId }, { perMinute: 0 }]) {
      const failure = await reindex(input as ReindexInput).catch((error: unknown) => error);
      expect(failure, JSON.stringify(input)).to.have.nested.property('cause.type', 'InvalidInput');
    }
  });

  it('counts and changes nothing in a dry run, and narrows to a workspace or an organization', async () => {
    const other = await api.createTenant();
    await index(tenant, 'a');
    await index(other, 'x');
    const { db } = api.database;
    serve('new');
    const { organizationId } = other;
    expect(await reindex({ organizationId, dryRun: true })).to.include({ workspaces: 1, behind: 1, embedded: 0 });
    expect((await reindex({ dryRun: true })).workspaces).to.be.at.least(2);
    expect([await stagedRows(), await stagedRows(other)]).to.deep.equal([[], []]);
    expect(await reindex({ organizationId, perMinute: 60_000, requestedBy: 'sre@example.com' })).to.include({ workspaces: 1, switched: 1 });
    expect((await search('semantic', other)).model).to.equal('new');
    expect((await search()).model).to.equal('old');
    const audit = db.selectFrom('audit_entry').selectAll().where('action', '=', 'document.reindex');
    expect((await audit.execute()).filter(({ actor_email }) => actor_email === 'sre@example.com')).to.have.length(1);
  });

  it('ends with a reason if the service embeds with something else than when it began', async () => {
    for (const name of ['a', 'b']) await index(tenant, name);
    serve('new');
    ai.behave('embed', (call) => {
      const answer = embed(call);
      if (call.body.texts.some((text: string) => text.includes('text of a'))) serve('old');
      return answer;
    });
    const failure = await reindex(only()).catch((error) => error);
    expect(failure.cause?.cause?.message).to.match(/^The AI service embeds with old by now/);
    expect(await search()).to.deep.equal({ model: 'old', names: ['a', 'b'], chunks: 2 });
  });

  it('cuts documents anew that were cut by other rules, and counts them as behind until then', async () => {
    const { db } = api.database;
    const admin = await api.signUp('Admin');
    await api.makePlatformAdmin(admin);
    const behind = async () => (await api.request('GET', '/api/v1/admin/system', { token: admin.token })).body.search.documentsBehind;
    const text = `Title\n\n${'Of bees. '.repeat(100)}\n\nHoney\n\n${'Of honey. '.repeat(200)}`;
    const headings = ['Title', 'Honey'].map((title, index) => ({ level: 1 + index, start: text.indexOf(title), title }));
    const extracted = { text, characters: text.length, pages: null, truncated: false, content_type: 'text/html' };
    ai.behave('extract', () => ({ body: { ...extracted, outline: { page_starts: null, headings } } }));
    const { id: documentId } = await api.upload(tenant, { name: 'bees.html', contentType: 'text/html', bytes: '<p>' });
    const job = await createJob(api, tenant, { kind: 'document.index', documentId });
    await api.jobIn(tenant.owner.token, job.id, ['succeeded']);
    ai.behave('extract');
    const texts = () => db.selectFrom('chunk').select('text').where('document_id', '=', documentId).orderBy('index').execute();
    const stored = await texts();
    const before = await behind();
    await db.updateTable('document_index').set({ chunking: '1' }).where('document_id', '=', documentId).execute();
    await db.updateTable('chunk').set({ text: 'as it was cut' }).where('document_id', '=', documentId).execute();
    expect(await behind()).to.equal(before + 1);
    ai.calls.length = 0;
    expect(await reindex(only())).to.include({ embedded: 1, switched: 1 });
    expect(await behind()).to.equal(before);
    expect(await texts()).to.deep.equal(stored);
    const embedded = textsBy('old').filter((one) => one.includes('Of '));
    expect(embedded).to.have.length(stored.length);
    for (const [index, { text: one }] of stored.entries())
      expect(embedded[index]).to.equal(
        /^Title/.test(one) ? one : /bees/.test(one) || /^Honey/.test(one) ? `Title\n${one}` : `Title\nHoney\n${one}`,
      );
    expect(stored.filter(({ text: one }) => /^(?:Of )?honey/.test(one))).to.not.be.empty;
  });

  it('tells platform admins how many documents are behind', async () => {
    const admin = await api.signUp('Admin');
    await api.makePlatformAdmin(admin);
    const status = async () => (await api.request('GET', '/api/v1/admin/system', { token: admin.token })).body.search;
    await index(tenant, 'a');
    const notedBy = async (model: string) =>
      (await api.database.db.selectFrom('document_index').select('document_id').where('model', '=', model).execute()).length;
    const [byOld, byNew] = [await notedBy('old'), await notedBy('new')];
    expect(await status()).to.deep.equal({ model: 'old', documents: byOld + byNew, documentsBehind: byNew });
    serve('new');
    expect(await status()).to.deep.equal({ model: 'new', documents: byOld + byNew, documentsBehind: byOld });
    await reindex(only());
    expect(await status()).to.deep.equal({ model: 'new', documents: byOld + byNew, documentsBehind: byOld - 1 });
  });

  // At the end: its job may ask how to embed while the service has the new model, and the worker keeps for a minute what it hears.
  it('lets a job that was embedding for the old vectors begin again', async () => {
    await index(tenant, 'a');
    const [begun, goOn] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    ai.behave('embed', async (call) => {
      const answer = embed(call);
      if (call.body.model === 'old' && call.body.texts.some((text: string) => text.includes('text of b'))) {
        begun.resolve();
        await goOn.promise;
      }
      return answer;
    });
    const { id: documentId } = await api.upload(tenant, { name: 'b', bytes: sentence('b') });
    const job = await createJob(api, tenant, { kind: 'document.index', documentId });
    await begun.promise;
    serve('new');
    expect(await reindex(only())).to.include({ switched: 1 });
    goOn.resolve();
    const { attempts, result } = await api.jobIn(tenant.owner.token, job.id, ['succeeded']);
    expect({ attempts, model: result.model }).to.deep.equal({ attempts: 2, model: 'new' });
    expect(await search()).to.deep.equal({ model: 'new', names: ['a', 'b'], chunks: 4 });
  });
});
