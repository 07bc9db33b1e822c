import { expect } from 'chai';
import { type CompiledQuery, Kysely, PostgresDialect, sql } from 'kysely';
import type { Storage } from '../../adapters/storage/port.ts';
import { findKey } from '../../api/auth/api-key.ts';
import { documents } from '../../contract/documents.ts';
import { retentionKinds } from '../../contract/workspaces.ts';
import { createPool, type Db, type Pool } from '../../db/connect.ts';
import type { Database } from '../../db/schema.ts';
import { listApiKeys } from '../../domain/api-keys/api-key.ts';
import { listAuditEntries, listPlatformAuditEntries } from '../../domain/audit.ts';
import { hasEntries, readAuditFeed } from '../../domain/audit-feed.ts';
import { costOfMonth, readCosts } from '../../domain/costs/read-costs.ts';
import { checkLedger } from '../../domain/credits/check-ledger.ts';
import { readHeldCredits, readUsageHistory } from '../../domain/credits/usage-history.ts';
import { getReplaced } from '../../domain/documents/document.ts';
import type { DocumentFilter } from '../../domain/documents/document-filter.ts';
import { findDocumentScope } from '../../domain/documents/document-scope.ts';
import { meetDuplicate } from '../../domain/documents/duplicates.ts';
import { toLabelColumns } from '../../domain/documents/labels.ts';
import { listDocuments } from '../../domain/documents/list-documents.ts';
import { hasJobsOfFormerWorkspace, listChanges, readChangedJobs } from '../../domain/jobs/list-changed-jobs.ts';
import { listJobs } from '../../domain/jobs/list-jobs.ts';
import { listReplayable } from '../../domain/jobs/replay-jobs.ts';
import { sweepLostAttempts, sweepQueuedJobs } from '../../domain/jobs/sweep-jobs.ts';
import { deleteOrganizationRows } from '../../domain/organizations/delete-organization.ts';
import { listOrganizations } from '../../domain/organizations/list-organizations.ts';
import { createCursors } from '../../domain/page.ts';
import { listBacklog, listStuck } from '../../domain/platform/backlog.ts';
import { measureQueue, measureQueues, measureWaiting } from '../../domain/platform/measure-platform.ts';
import { auditEntries, deleteInBatches, finishedJobs, idempotencyKeys, providerCalls, sessions } from '../../domain/retention.ts';
import { deleteObjectBatch } from '../../domain/stored-objects/delete-object-batch.ts';
import { sweepObjectDeletions } from '../../domain/stored-objects/sweep-object-deletions.ts';
import { countDue, listDue } from '../../domain/workspaces/due-rows.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { fillApiKeys, filledTables, fillProviderCalls, fillTables, fillVersions, large } from './support/fill-tables.ts';

/** Enough that a sequential scan is never the cheapest way. Millions are tried by hand. */
const rows = Number(process.env.PLAN_TEST_ROWS ?? 60_000);
const crowdedDocuments = 10_000;

describe(`With ${rows} rows in each large table`, () => {
  let database: TestDatabase;
  let pool: Pool;
  let db: Db;
  const seen: CompiledQuery[] = [];
  const cursors = createCursors(Buffer.alloc(32));

  before(async function () {
    this.timeout(600_000);
    database = await createTestDatabase();
    await fillTables(database.db, rows);
    await fillApiKeys(database.db);
    await fillProviderCalls(database.db, rows / 5);
    await fillVersions(database.db, rows / 5);
    pool = createPool({ url: database.url, poolSize: 2 });
    db = new Kysely<Database>({ dialect: new PostgresDialect({ pool }), log: ({ query }) => void seen.push(query) });
    await addLabeledDocuments();
  });
  after(async () => {
    await pool.end();
    await database.drop();
  });

  /** Documents of one workspace; each tag is one of ten's, each number one's. */
  const crowded = 'workspace-crowded';
  async function addLabeledDocuments(): Promise<void> {
    const row = await db.selectFrom('document').selectAll().where('id', '=', 'document-1').executeTakeFirstOrThrow();
    const place = { organization_id: row.organization_id, workspace_id: crowded };
    await db.insertInto('workspace').values({ id: crowded, organization_id: row.organization_id, name: 'w', slug: crowded }).execute();
    for (let start = 0; start < crowdedDocuments; start += 1_000) {
      const documents = Array.from({ length: 1_000 }, (_, n) => {
        const labels = { tags: [`tag-${(start + n) % 1_000}`], metadata: { number: start + n } };
        const id = `crowded-${start + n}`;
        return {
          ...row,
          ...place,
          ...toLabelColumns(crowded, labels),
          id,
          object_key: id,
          chunk_count: 1,
          extracted_notices: null,
          created_at: new Date(start + n),
        };
      });
      await db.insertInto('document').values(documents).execute();
    }
    await sql`analyze document`.execute(db);
  }

  /** A store that deletes nothing, so that a batch can be asked for again. */
  const noStore = {
    owner: async () => (await db.selectFrom('deployment').select('id').executeTakeFirstOrThrow()).id,
    async *deleteMany() {},
  } as unknown as Storage;

  const isPlanned = /^\s*(select|with|insert|update|delete)/;
  /** Counts of all rows are exact, and only a full read gives them; platform admins ask for them. Counts of what waits are bounded. */
  const isCountOfAll =
    /^select count\(\*\) as total from organization where true$|\(select from object_to_delete order by created_at desc limit /;

  /** The large tables that the statements of `work` read from end to end. */
  async function scannedBy(work: () => Promise<unknown>): Promise<string[]> {
    seen.length = 0;
    await work();
    const scanned: string[] = [];
    for (const { sql: text, parameters } of seen.filter(({ sql: text }) => isPlanned.test(text) && !isCountOfAll.test(text))) {
      const { rows: plans } = await pool.query(`explain (format json) ${text}`, [...parameters]);
      const tables = scansOf(plans[0]['QUERY PLAN'][0].Plan).filter((table) =>
        [...filledTables, 'provider_call', 'document_version'].includes(table),
      );
      scanned.push(...tables.map((table) => `${table}, by ${text.replaceAll(/\s+/g, ' ')}`));
    }
    expect(seen).to.not.have.length(0);
    return scanned;
  }

  interface PlanNode {
    'Node Type': string;
    'Relation Name'?: string;
    Plans?: PlanNode[];
  }

  function scansOf(node: PlanNode): string[] {
    const own = node['Node Type'] === 'Seq Scan' ? [node['Relation Name'] ?? ''] : [];
    return [...own, ...(node.Plans ?? []).flatMap(scansOf)];
  }

  const small = 'small-7';
  const page = { limit: 50 };
  const progress = { before: undefined, onProgress: () => {}, signal: new AbortController().signal };
  const jobsOf = (filter: object) => () => listJobs(db, cursors, { organizationId: large, limit: 100, includeResult: true, ...filter });
  const next = async <T extends { nextCursor: string | null }>(list: (cursor?: string) => Promise<T>) => {
    const { nextCursor } = await list();
    expect(nextCursor).to.be.a('string');
    return list(nextCursor ?? '');
  };
  const replayable = (filter: object) => () => listReplayable(db, filter, { replayRun: 'none', after: null, limit: 100 });

  const questions: Record<string, () => Promise<unknown>> = {
    'jobs of an organization': () => next((cursor) => jobsOf({ cursor })()),
    'jobs of a small organization': jobsOf({ organizationId: small }),
    'jobs of a workspace': jobsOf({ workspaceId: 'workspace-5' }),
    'jobs of a document': jobsOf({ documentId: 'document-10' }),
    'what a workspace keeps no longer': async () => {
      for (const kind of retentionKinds) {
        const due = { workspaceId: 'workspace-5', kind, days: 1 };
        await listDue(db, { ...due, after: { id: 'a', at: new Date(0) }, limit: 500 });
        await countDue(db, due);
      }
    },
    'failed jobs': jobsOf({ status: 'failed' }),
    'queued jobs': jobsOf({ status: 'queued' }),
    'jobs that changed, of a stream': async () => {
      const { changes } = await listChanges(db, large, new Date(0));
      const [first] = changes;
      if (!first) throw new Error('nothing has changed');
      await listChanges(db, large, first);
      await readChangedJobs(db, [first]).next();
    },
    'jobs of a former workspace': () => hasJobsOfFormerWorkspace(db, large, 'gone-7'),
    'the audit log of an organization': () => next((cursor) => listAuditEntries(db, cursors, { organizationId: large, ...page, cursor })),
    'the audit log of a small organization': () => listAuditEntries(db, cursors, { organizationId: small, ...page }),
    'the audit feed, while a request waits': () => hasEntries(db, { organizationId: small, after: 1e9, limit: 1 }),
    'the audit feed': () => readAuditFeed(db, { organizationId: large, after: 0, limit: 100 }),
    'the audit log of the platform': () => next((cursor) => listPlatformAuditEntries(db, cursors, { ...page, cursor })),
    'the audit log by actor': () => next((cursor) => listPlatformAuditEntries(db, cursors, { ...page, actorId: 'user-5', cursor })),
    'the audit log by target': () => listPlatformAuditEntries(db, cursors, { ...page, targetId: '000000000005' }),
    'the audit log by everything': () =>
      listPlatformAuditEntries(db, cursors, { ...page, organizationId: small, actorId: 'user-5', targetId: '000000000005' }),
    'documents of a workspace': () => next((cursor) => listDocuments(db, cursors, { workspaceId: crowded, ...page, cursor })),
    'documents in each order': async () => {
      for (const sort of documents.list.query.shape.sort.unwrap().options)
        await next((cursor) => listDocuments(db, cursors, { workspaceId: crowded, sort, ...page, cursor }));
    },
    'documents of a type': () => listDocuments(db, cursors, { workspaceId: crowded, contentTypes: ['text/html'], ...page }),
    'the document with a content': () => meetDuplicate(db, { workspaceId: crowded, sha256: 'none', mayRead: true }),
    'the document that an upload was a version of': () => getReplaced(db, [large, small], 'version-7').catch(() => undefined),
    'documents that wait for their upload': () => listDocuments(db, cursors, { workspaceId: crowded, status: 'pending', ...page }),
    'jobs to replay': replayable({}),
    'jobs to replay, further on': () => listReplayable(db, {}, { replayRun: 'none', after: '000000000500', limit: 100 }),
    'jobs to replay, by organization': replayable({ organizationId: small }),
    'jobs to replay, by kind and error': replayable({ kind: 'document.extract', errorCode: 'ai_failed' }),
    'jobs to replay, by time': replayable({ from: new Date(Date.now() - 60_000).toISOString(), to: new Date().toISOString() }),
    'the backlog': () => listBacklog(db, 50),
    'what is stuck': () => listStuck(db, { jobTimeoutMs: 120_000, limit: 200 }),
    'how many jobs wait': () => measureQueue(db),
    'what else waits': () => measureWaiting(db),
    'how many jobs of each kind wait': () => measureQueues(db),
    'organizations by name': () => listOrganizations(db, { limit: 25, offset: 0, dunningDays: 14 }),
    'the ledger': () => checkLedger(db, { sliceSize: 1_000, limit: 1 }),
    'credits by day': () => readUsageHistory(db, { organizationId: small, from: '2026-11-01', to: '2026-11-30', by: 'key', limit: 100 }),
    'costs by day': () =>
      readCosts(db, cursors, [], { organizationId: small, from: '2026-11-01', to: '2026-11-30', by: 'model', limit: 100 }),
    'the cost of a workspace in this month': () => sql`select ${costOfMonth([], 'workspace-7')}`.execute(db),
    'credits that are held': () => readHeldCredits(db, small),
    'the ledger of an organization': () => checkLedger(db, { organizationId: small, sliceSize: 1_000 }),
    'attempts that are lost': () => sweepLostAttempts(db, { timeoutMs: 1e9, limit: 100, onFailure: () => {} }),
    'jobs without a workflow': () => sweepQueuedJobs(db, { limit: 1, getPlan: async () => null }),
    'jobs that are past their time': () => deleteInBatches(db, finishedJobs, progress),
    'audit entries that are past their time': () => deleteInBatches(db, auditEntries(36_500), progress),
    'calls of providers that are past their time': () => deleteInBatches(db, providerCalls, progress),
    'sessions that are over': () => deleteInBatches(db, sessions, progress),
    'idempotency keys that are past their time': () => deleteInBatches(db, idempotencyKeys, progress),
  };
  for (const [question, ask] of Object.entries(questions)) {
    it(`reads no table from end to end for ${question}`, async () => {
      expect(await scannedBy(ask)).to.deep.equal([]);
    }).timeout(300_000);
  }

  /** How many rows of a table the statements of `work` read, at the most in one step of a plan. */
  async function mostRead(table: string, work: () => Promise<unknown>): Promise<number> {
    seen.length = 0;
    await work();
    let most = 0;
    for (const { sql: text, parameters } of seen.filter(({ sql: text }) => isPlanned.test(text))) {
      const { rows: plans } = await pool.query(`explain (analyze, format json) ${text}`, [...parameters]);
      most = Math.max(most, readBy(table, plans[0]['QUERY PLAN'][0].Plan));
    }
    return most;
  }

  function readBy(table: string, node: PlanNode & Record<string, unknown>): number {
    const counts = ['Actual Rows', 'Rows Removed by Filter', 'Rows Removed by Index Recheck'].map((name) => Number(node[name] ?? 0));
    const own = node['Relation Name'] === table ? counts.reduce((sum, count) => sum + count, 0) * Number(node['Actual Loops'] ?? 1) : 0;
    return Math.max(own, ...(node.Plans ?? []).map((child) => readBy(table, child as never)));
  }

  it('reads of all API keys that of a secret, and those of an organization', async () => {
    expect(await mostRead('api_key', () => findKey(db, 'new-70'))).to.equal(1);
    expect(await mostRead('api_key', () => findKey(db, 'old-71'))).to.equal(1);
    expect(await mostRead('api_key', () => listApiKeys(db, small))).to.equal(1);
  });

  it('reads no stored response but those of the organization that is deleted', async () => {
    expect(await mostRead('idempotency_key', () => deleteOrganizationRows(db, 'gone', progress))).to.equal(0);
  });

  it('reads one late object of each organization, however many it has', async () => {
    const read = await mostRead('object_to_delete', () => sweepObjectDeletions(db, 10));
    const { rows } = await sql<{
      organizations: number;
    }>`select count(distinct organization_id) as organizations from object_to_delete`.execute(db);
    expect(read).to.equal(rows[0]?.organizations);
  });

  /** How many pages of tables and indexes the statement of `work` touches that matches `text`. */
  async function pagesTouched(text: RegExp, work: () => Promise<unknown>): Promise<number> {
    seen.length = 0;
    await work();
    const { sql: statement, parameters } = seen.find((query) => text.test(query.sql)) as CompiledQuery;
    const { rows: plans } = await pool.query(`explain (analyze, buffers, format json) ${statement}`, [...parameters]);
    const plan = plans[0]['QUERY PLAN'][0].Plan;
    return plan['Shared Hit Blocks'] + plan['Shared Read Blocks'];
  }

  it('reads past no objects that are deleted, though their entries are still in the indexes', async () => {
    const after = { dueAt: '2016-01-01T08:20:00.000Z', key: 'drained/00030000' };
    await sql`alter table object_to_delete set (autovacuum_enabled = off)`.execute(db);
    await sql`
      insert into object_to_delete (key, organization_id, next_attempt_at)
      select 'drained/' || lpad(n::text, 8, '0'), 'drained', '2016-01-01 00:00Z'::timestamptz + n * interval '1 second'
      from generate_series(1, 30010) n
    `.execute(db);
    const bySweep = () => pagesTouched(/^\s*with recursive owner/, () => sweepObjectDeletions(db, 10));
    const before = await bySweep();
    await sql`delete from object_to_delete where organization_id = 'drained' and key <= ${after.key}`.execute(db);
    expect((await bySweep()) - before).to.be.lessThan(20);
    const batch = () => deleteObjectBatch(db, noStore, { organizationId: 'drained', after }, () => {});
    expect(await pagesTouched(/^select "key"/, batch)).to.be.lessThan(20);
  }).timeout(300_000);

  it('counts what waits no further than asked', async () => {
    const { objectsToDelete } = await measureWaiting(db, 7);
    const queues = await measureQueues(db, 1);
    expect([objectsToDelete.size, objectsToDelete.refused, queues.length, queues[0]?.queued]).to.deep.equal([7, 7, 1, 1]);
  });

  it('finds the delivery that is due for longest among many that are held or not due, and reads only that', async () => {
    await sql`
      insert into webhook_delivery (id, organization_id, endpoint_id, event_id, event, data, held, next_attempt_at, created_at)
      select 'delivery-' || n, ${small}, 'endpoint', 'event-' || n, 'job.failed', '{}'::jsonb, n % 2 = 0,
        case when n % 2 = 1 then now() + interval '1 hour' end, now() - interval '1 day'
      from generate_series(1, 1000) n
      union all select 'delivery-due', ${small}, 'endpoint', 'event-due', 'job.failed', '{}', false, null, now() - interval '1 minute'
    `.execute(db);
    await sql`analyze webhook_delivery`.execute(db);
    const measure = () => measureWaiting(db, 7);
    expect((await measure()).webhooks).to.include({ size: 7 });
    expect((await measure()).webhooks.oldestSeconds).to.be.within(60, 120);
    expect(await mostRead('webhook_delivery', measure)).to.equal(7);
    await sql`delete from webhook_delivery`.execute(db);
  });

  it('reads no more documents than a page has, in each order, and after a long name', async () => {
    await db
      .updateTable('document')
      .set(({ ref }) => ({ name: sql`repeat('long ', 30) || ${ref('id')}` }))
      .where('workspace_id', '=', crowded)
      .execute();
    await sql`vacuum analyze document`.execute(db);
    for (const sort of documents.list.query.shape.sort.unwrap().options) {
      const listed = () => next((cursor) => listDocuments(db, cursors, { workspaceId: crowded, sort, ...page, cursor }));
      expect(await mostRead('document', listed), sort).to.be.at.most(page.limit + 1);
    }
  });

  const narrow: Record<string, [filter: DocumentFilter, found: number]> = {
    tag: [{ tags: ['tag-7'] }, 10],
    'tag that there is not': [{ tags: ['none'] }, 0],
    'field of the metadata': [{ metadata: { number: 77 } }, 1],
    'tag and a field': [{ tags: ['tag-77'], metadata: { number: 77 } }, 1],
    'list of ids': [{ ids: ['crowded-1', 'crowded-2', 'document-1'] }, 2],
    'content type': [{ contentTypes: ['text/html'] }, 0],
    'time of creation': [{ created: [undefined, new Date(10)] }, 10],
    'time of indexing': [{ indexed: [new Date(0), undefined] }, 0],
  };
  for (const [what, [filter, found]] of Object.entries(narrow)) {
    it(`reads only the documents that are found by a ${what}`, async () => {
      const listed = async () =>
        expect((await listDocuments(db, cursors, { workspaceId: crowded, ...filter, ...page })).items).to.have.length(found);
      const searched = async () => expect((await findDocumentScope(db, crowded, filter)).named).to.have.length(found);
      expect(await mostRead('document', searched)).to.be.at.most(found + 1);
      if (!filter.indexed) expect(await mostRead('document', listed)).to.be.at.most(found + 1);
    });
  }
});
