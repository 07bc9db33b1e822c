import { expect } from 'chai';
import { sql } from 'kysely';
import { ApiError } from '../../contract/api-error.ts';
import { inTransaction } from '../../db/transaction.ts';
import { recordAudit, systemActor } from '../../domain/audit.ts';
import { readAuditFeed } from '../../domain/audit-feed.ts';
import { auditEntries, deleteInBatches } from '../../domain/retention.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';

const writers = 20;
const entriesOfEach = 60;

describe('The feed of audit entries', () => {
  let database: TestDatabase;
  before(async () => {
    database = await createTestDatabase();
    for (const id of ['busy', 'late', 'kept', 'moved'])
      await database.db.insertInto('organization').values({ id, name: id, slug: id, createdAt: new Date() }).execute();
    // Each organization begins with the entry of its own.
    await database.db.deleteFrom('audit_entry').execute();
  });
  after(() => database.drop());

  const entryOf = (organizationId: string, targetId: string) => ({ organizationId, action: 'x.y', targetType: 'x', targetId });
  const write = (organizationId: string, targetId: string) =>
    inTransaction(database.db, (trx) => recordAudit(trx, systemActor, entryOf(organizationId, targetId)));
  const read = (organizationId: string, after: number, limit = 100) => readAuditFeed(database.db, { organizationId, after, limit });
  const numbersTo = (last: number) => Array.from({ length: last }, (_, index) => index + 1);

  /** Reads until nothing comes any more, though everything is written. */
  async function follow(organizationId: string, isWritten: () => boolean, limit: number) {
    const got: { sequence: number; target_id: string | null }[] = [];
    for (;;) {
      const wasWritten = isWritten();
      const next = await read(organizationId, got.at(-1)?.sequence ?? 0, limit);
      if (next.length === 0 && wasWritten) return got;
      got.push(...next);
    }
  }

  it('gives each reader every entry once and without a gap, while 20 write at once', async () => {
    const total = writers * entriesOfEach;
    const writeAll = async (writer: number) => {
      for (let n = 0; n < entriesOfEach; n++) await write('busy', `${writer}-${n}`);
    };
    let written = false;
    const readers = [1, 7, 100, 1_000].map((limit) => follow('busy', () => written, limit));
    await Promise.all(Array.from({ length: writers }, (_, writer) => writeAll(writer)));
    written = true;
    const [first, ...others] = await Promise.all(readers);
    expect(first?.map(({ sequence }) => sequence)).to.deep.equal(numbersTo(total));
    expect(new Set(first?.map(({ target_id }) => target_id)).size).to.equal(total);
    for (const other of others) expect(other).to.deep.equal(first);
    expect(await read('busy', total)).to.deep.equal([]);
  });

  it('numbers what commits late after what was read before it', async () => {
    const { db } = database;
    const begun = await db.startTransaction().execute();
    await recordAudit(Object.assign(begun, { intents: [], facts: [] }), systemActor, entryOf('late', 'early'));
    await write('late', 'second');
    expect((await read('late', 0)).map(({ target_id }) => target_id)).to.deep.equal(['second']);
    await begun.commit().execute();
    await write('late', 'third');
    const rest = await read('late', 1);
    expect(rest.map(({ sequence, target_id }) => [sequence, target_id])).to.deep.equal([
      [2, 'early'],
      [3, 'third'],
    ]);
  });

  it('goes on counting after retention has deleted everything', async () => {
    await write('kept', 'old');
    expect(await read('kept', 0)).to.have.length(1);
    const quietly = { before: undefined, onProgress() {}, signal: new AbortController().signal };
    await database.db
      .updateTable('audit_entry')
      .set({ created_at: new Date(0) })
      .execute();
    await deleteInBatches(database.db, auditEntries(1), quietly);
    await write('kept', 'new');
    expect((await read('kept', 1)).map(({ sequence }) => sequence)).to.deep.equal([2]);
    expect(await read('kept', 2)).to.deep.equal([]);
  });

  it('says the last number to a reader who is ahead of it, and nothing of an organization that is gone', async () => {
    await write('late', 'fourth');
    const refused = await read('late', 5).catch((error: unknown) => error);
    expect(refused).to.be.instanceOf(ApiError).and.to.include({ code: 'BAD_REQUEST' });
    expect(refused).to.have.nested.property('data.issues[0].path').that.deep.equals(['after']);
    expect(refused).to.have.property('message').that.includes('number 4');
    expect(await read('late', 4)).to.deep.equal([]);
    expect(await read('gone', 5)).to.deep.equal([]);
  });

  it('numbers all that there is before it refuses a reader, since a copy of the database may lack the last numbers', async () => {
    await sql`insert into audit_entry (id, organization_id, action, target_type, target_id)
      select 'moved-' || n, 'moved', 'x.y', 'x', n::text from generate_series(1, 2500) as n`.execute(database.db);
    for (let n = 0; n < 3; n++) expect(await read('moved', 2500)).to.deep.equal([]);
    expect((await read('moved', 2499)).map(({ sequence }) => sequence)).to.deep.equal([2500]);
    const refused = await read('moved', 2501).catch(({ message }: Error) => message);
    expect(refused).to.include('number 2500');
  });
});
