import { expect } from 'chai';
import { type Insertable, sql } from 'kysely';
import type { DocumentTable } from '../../db/schema.ts';
import { purgeAbandonedUploads } from '../../domain/documents/purge-uploads.ts';
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
});
