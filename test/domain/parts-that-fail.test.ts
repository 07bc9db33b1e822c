import { MockActivityEnvironment } from '@temporalio/testing';
import { DefaultLogger } from '@temporalio/worker';
import { expect } from 'chai';
import { type Insertable, sql } from 'kysely';
import type { ActivityDeps } from '../../activities/deps.ts';
import { indexActivities } from '../../activities/scheduled.ts';
import type { DocumentTable } from '../../db/schema.ts';
import { DatabaseUnavailable } from '../../db/unavailable.ts';
import { quantizeDocuments } from '../../domain/chunks/quantize-documents.ts';
import { forEachOutdated } from '../../domain/documents/for-each-outdated.ts';
import { purgeAbandonedUploads } from '../../domain/documents/purge-uploads.ts';
import { insertWorkspaceOfChunks, makeVectors } from '../support/chunks.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';

describe('What is done with many documents, if it fails with one', () => {
  let database: TestDatabase;
  beforeEach(async () => {
    database = await createTestDatabase();
  });
  afterEach(() => database.drop());

  /** Adds an organization with a workspace that counts `usedBytes`, and an upload that was given up. */
  async function addAbandoned(id: string, usedBytes: number): Promise<void> {
    const { db } = database;
    const place = { organization_id: id, workspace_id: id, object_key: `${id}/d` };
    await db.insertInto('organization').values({ id, name: id, slug: id, createdAt: new Date() }).execute();
    await db.insertInto('workspace').values({ id, organization_id: id, name: id, slug: id, used_bytes: usedBytes }).execute();
    const upload: Insertable<DocumentTable> = { id, ...place, name: 'a', content_type: 'text/plain', size_bytes: 4, status: 'pending' };
    await db
      .insertInto('document')
      .values({ ...upload, created_at: sql`now() - interval '2 days'` as never })
      .execute();
  }

  it('purges the other abandoned uploads, and fails at the end', async () => {
    await addAbandoned('one', 0);
    await addAbandoned('two', 4);
    const purge = purgeAbandonedUploads(database.db, { before: undefined, onProgress() {}, signal: new AbortController().signal });
    expect(await purge.catch(String)).to.include('workspace_used_bytes_check');
    const left = await database.db.selectFrom('document').select('id').execute();
    expect(left).to.deep.equal([{ id: 'one' }]);
  });

  it('quantizes the others, and fails at the end', async () => {
    const { db } = database;
    const chunks = makeVectors(1, 3, 8).map((vector) => ({ model: 'a', vector }));
    for (const id of ['one', 'two', 'three']) await insertWorkspaceOfChunks(db, id, chunks);
    await sql`alter table document add check (id <> 'one' or quantized_at is null)`.execute(db);
    expect(await quantizeDocuments(db).catch(String)).to.include('violates check constraint');
    const quantized = await db.selectFrom('document').select('id').where('quantized_at', 'is not', null).orderBy('id').execute();
    expect(quantized).to.deep.equal([{ id: 'three' }, { id: 'two' }]);
  });

  it('takes the other steps of indexes, and fails at the end', async () => {
    const { db } = database;
    await insertWorkspaceOfChunks(db, 'one', [{ model: 'a', vector: [1, 0] }]);
    await sql`alter table document add check (quantized_at is null)`.execute(db);
    const { reconcileIndexes } = indexActivities({ maintenanceDb: db } as ActivityDeps);
    const failure = await new MockActivityEnvironment({}, { logger: new DefaultLogger('ERROR') }).run(reconcileIndexes).catch(String);
    expect(failure).to.include('violates check constraint');
    expect(await db.selectFrom('lexical_document').select('document_id').execute()).to.deep.equal([{ document_id: 'one' }]);
    expect(await db.selectFrom('document_index').select('document_id').execute()).to.deep.equal([{ document_id: 'one' }]);
  });

  it('stops at once if the database is away, as it is for all', async () => {
    const { db } = database;
    for (const id of ['one', 'two']) await insertWorkspaceOfChunks(db, id, []);
    const find = () => db.selectFrom('document').select(['id', 'workspace_id']).orderBy('id').execute();
    const tried: string[] = [];
    const store = async (_: unknown, { id }: { id: string }) => {
      tried.push(id);
      throw new DatabaseUnavailable('away');
    };
    expect(await forEachOutdated(db, find, store).catch((error) => error)).to.be.instanceOf(DatabaseUnavailable);
    expect(tried).to.deep.equal(['one']);
  });
});
