import { randomBytes } from 'node:crypto';
import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { sql } from 'kysely';
import type { Environment } from '../../base/config/environment.ts';
import type { Db } from '../../db/connect.ts';
import { measureWaiting } from '../../domain/platform/measure-platform.ts';
import { startBucketStandIn } from '../adapters/storage/bucket-server.ts';
import { startS3Server } from '../adapters/storage/s3-server.ts';
import { type Answer, startTestApi, type Tenant, type TestApi } from '../support/api.ts';
import { createEmptyDatabase, type TestDatabase } from '../support/database.ts';
import { makeTestDirectory, removeTestDirectory } from '../support/directories.ts';
import { goodAnswer } from '../support/fake-ai.ts';
import { createJob, expectCleanLog, expectSoundLedger, summary } from '../support/jobs.ts';
import { nightly } from '../support/nightly.ts';
import { opsResult, runOps } from '../support/ops.ts';
import { until } from '../support/processes.ts';
import { useApi } from '../support/use-api.ts';

const buckets: Record<string, () => Promise<{ env: Environment; close(): Promise<void> }>> = {
  async 'a bucket of Cloud Storage'() {
    const { bucket, apiEndpoint, close } = await startBucketStandIn();
    return { env: { STORAGE_BUCKET: bucket, STORAGE_API_ENDPOINT: apiEndpoint }, close };
  },
  'a server of S3': startS3Server,
};

const summarized = { summary: 'Short.', sentences: 1, model: 'fake' };

describe('npm run ops -- backup, while writers run, and restore', function () {
  this.timeout(180_000);
  const { api, ai, tenant } = useApi({ ai: true });
  const root = makeTestDirectory();
  const backup = join(root, 'backup');
  const contents = new Map<string, Buffer>();
  const heldJobs: string[] = [];
  let jobsBefore = 0;
  let pendingUpload: string;
  let database: TestDatabase;
  let restored: TestApi;
  let token: string;
  let backedUp: any;
  let restoredResult: any;
  let release = () => {};

  before('backs a service up while writers run, and restores it elsewhere', async () => {
    await backUp();
    await restore();
  });
  async function backUp() {
    for (let n = 0; n < 6; n++) {
      const bytes = n === 0 ? Buffer.from('x') : Buffer.from(randomBytes(n * 35_000).toString('hex'));
      const { id } = await api.upload(tenant, { name: `${n}.txt`, bytes });
      contents.set(id, bytes);
    }
    await awkwardRows(api.database.db);
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    ai.behave('summarize', async (call) => {
      await held;
      return goodAnswer(call);
    });
    for (let n = 0; n < 4; n++) heldJobs.push((await createJob(api, tenant, summary)).id);
    await until(async () => (await countJobs(api.database.db, 'running')) > 0);
    const body = { workspaceId: tenant.workspaceId, name: 'late.txt', contentType: 'text/plain', size: 5 };
    pendingUpload = (await api.request('POST', '/api/v1/documents', { token: tenant.owner.token, body })).body.document.id;
    const { db } = api.database;
    jobsBefore = await count(db, 'job');
    const stopWriting = startWriters(api, tenant);
    try {
      await until(async () => (await count(db, 'job')) > jobsBefore);
      backedUp = await opsResult(['backup', backup], api.stack.env);
      const jobsThen = await count(db, 'job');
      await until(async () => (await count(db, 'job')) > jobsThen);
    } finally {
      await stopWriting();
      release();
    }
  }
  /** Into a new database, a new store and a new namespace of Temporal. */
  async function restore() {
    database = await createEmptyDatabase();
    const env = { DATABASE_URL: database.url, DATA_DIR: join(root, 'restored') };
    mkdirSync(env.DATA_DIR);
    restoredResult = await opsResult(['restore', backup], env);
    await letTimePass(database.db);
    ai.behave('summarize');
    restored = await startTestApi({ database, env: { ...ai.env, DATA_DIR: env.DATA_DIR } });
    const body = { email: tenant.owner.email, password: 'a long password' };
    const signedIn = await restored.request('POST', '/api/auth/sign-in/email', { body });
    expect(signedIn.status).to.equal(200);
    token = signedIn.headers.get('set-auth-token') ?? '';
  }
  after(async () => {
    release();
    await restored?.stop();
    removeTestDirectory(root);
  });

  it('saw writers before and after its snapshot', async () => {
    const inBackup = await count(database.db, 'job');
    expect(inBackup).to.be.greaterThan(jobsBefore);
    expect(await count(api.database.db, 'job')).to.be.greaterThan(inBackup);
    expect(backedUp.objects.count).to.be.at.least(contents.size);
    expect(backedUp.objects.lost).to.equal(0);
  });

  it('has every document of before the snapshot, byte for byte', async () => {
    for (const [id, bytes] of contents) {
      const { status, body } = await restored.request('GET', `/api/v1/documents/${id}/download-url`, { token });
      expect(status).to.equal(200);
      expect(Buffer.from(await (await fetch(body.url)).arrayBuffer()).equals(bytes), id).to.equal(true);
    }
  });

  it('has every row of the snapshot, as it was', async () => {
    const flag = await database.db.selectFrom('feature_flag').selectAll().where('key', '=', 'awkward').executeTakeFirstOrThrow();
    expect(flag.description).to.equal(awkward);
    const textsOf = async ({ db }: TestDatabase, table: string, ids: unknown[]) =>
      (await sql`select row::text from ${sql.table(table)} as row where id = any (${ids}) order by id`.execute(db)).rows;
    // The source has these rows still, and changes none of them.
    for (const table of ['audit_entry', 'credit_entry']) {
      const before = new Date(backedUp.snapshotAt);
      const { rows } = await sql<{ id: unknown }>`select id from ${sql.table(table)} where created_at < ${before}`.execute(database.db);
      const ids = rows.map(({ id }) => id);
      expect(ids, table).to.not.deep.equal([]);
      expect(await textsOf(database, table, ids), table).to.deep.equal(await textsOf(api.database, table, ids));
    }
  });

  nightly('ends every job once: those in work are queued again, and none is charged twice', async () => {
    expect(restoredResult.jobs.requeued).to.be.greaterThan(0);
    expect(restoredResult.jobs.failed).to.equal(0);
    const unfinished = async () => (await countJobs(database.db, 'queued')) + (await countJobs(database.db, 'running'));
    await until(async () => (await unfinished()) === 0, 120_000);
    for (const id of heldJobs) expect((await restored.jobIn(token, id, ['succeeded'])).result).to.include(summarized);
    await expectSoundLedger(restored);
    const charges = await sql`select job_id from credit_entry where amount > 0 group by job_id having count(*) > 1`.execute(database.db);
    expect(charges.rows).to.deep.equal([]);
    expectCleanLog(restored);
  });

  nightly('deletes the object that was to be deleted', async () => {
    await until(async () => (await count(database.db, 'object_to_delete')) === 0, 120_000);
    await until(async () => (await count(database.db, 'outbox')) === 0);
  });

  it('holds mails that waited, since they may have been sent after the snapshot, until they are to be sent', async () => {
    expect(restoredResult.mailsHeld).to.equal(2);
    expect(await count(database.db, 'mail')).to.equal(2);
    expect((await measureWaiting(database.db)).mails, 'no alert on late mails').to.deep.equal({ size: 0, refused: 0, oldestSeconds: null });
    const env = { DATABASE_URL: database.url };
    expect(await opsResult(['mails'], env)).to.deep.include({ sending: 0 });
    const { stdout } = await runOps(['mails', '--send'], env);
    expect(stdout)
      .to.match(/^contact +2 +0 +\d+ \w+$/m)
      .and.match(/^2 are being sent\.$/m);
    await until(async () => (await count(database.db, 'mail')) === 0);
    expect((await runOps(['mails'], env)).stdout).to.equal('Every mail is sent.\n');
  });

  it('lets an upload that was under way be completed or begun again', async () => {
    const row = await database.db.selectFrom('document').select('status').where('id', '=', pendingUpload).executeTakeFirstOrThrow();
    expect(row.status).to.equal('pending');
    expect((await restored.request('POST', `/api/v1/documents/${pendingUpload}/complete`, { token })).status).to.not.equal(200);
    const again = await restored.upload({ owner: { ...tenant.owner, token }, workspaceId: tenant.workspaceId }, { bytes: 'new' });
    expect(again.id).to.be.a('string');
  });

  it('ends the sessions of before', async () => {
    expect((await restored.request('GET', '/api/v1/me', { token: tenant.owner.token })).status).to.equal(401);
  });

  it('gives out numbers after those of the backup, and its triggers run', async () => {
    const { rows } = await sql<{ next: boolean }>`select (select max(id) from credit_entry) <=
      (select last_value from pg_sequences where sequencename = 'credit_entry_id_seq') as next`.execute(database.db);
    expect(rows).to.deep.equal([{ next: true }]);
    const off = await sql`select tgname from pg_trigger where tgenabled <> 'O'`.execute(database.db);
    expect(off.rows).to.deep.equal([]);
  });

  for (const [name, start] of Object.entries(buckets))
    it(`restores into ${name} too, from which it can be backed up again`, async () => {
      const bucket = await start();
      const other = await createEmptyDatabase();
      try {
        const env = { DATABASE_URL: other.url, ...bucket.env };
        const again = join(root, `again from ${name}`);
        await opsResult(['restore', backup], env);
        await opsResult(['backup', again], env);
        const listOf = (directory: string) => readFileSync(join(directory, 'objects.jsonl'), 'utf8').replaceAll('deleted', 'lost');
        expect(listOf(again)).to.equal(listOf(backup));
      } finally {
        await other.drop();
        await bucket.close();
      }
    });
});

const awkward = 'tab\t newline\n backslash \\N \\. quote \' " umlaut ü emoji 🎈 carriage\r null-like \\0';

/** Rows that no workflow works on, or that one has just been asked for; and text that is hard to write. */
async function awkwardRows(db: Db): Promise<void> {
  await db.insertInto('feature_flag').values({ key: 'awkward', description: awkward, enabled: true }).execute();
  const mail = { kind: 'contact' as const, recipient: 'ada@example.com', subject: 'It waits', body: awkward };
  await db
    .insertInto('mail')
    .values([
      { id: 'waits', ...mail },
      { id: 'asked-for', ...mail },
    ])
    .execute();
  const intent = {
    operation: 'start',
    workflow: 'sendMail',
    workflowId: 'mail-asked-for',
    input: { mailId: 'asked-for', kind: 'contact' },
  };
  // The relay leaves it there while the lease lasts.
  const leased = { lease_until: new Date(Date.now() + 3_600_000) };
  await db
    .insertInto('outbox')
    .values({ workflow_id: intent.workflowId, intent: JSON.stringify(intent), ...leased })
    .execute();
  await db.insertInto('object_to_delete').values({ key: 'deleted-organization/gone', organization_id: 'deleted-organization' }).execute();
}

/** The sweep takes what has waited for a minute, and the relay what nobody has a lease on. */
async function letTimePass(db: Db): Promise<void> {
  await sql`update job set created_at = created_at - interval '5 minutes', swept_at = swept_at - interval '5 minutes'`.execute(db);
  await sql`update outbox set lease_until = null`.execute(db);
  await sql`update object_to_delete set next_attempt_at = next_attempt_at - interval '5 minutes'`.execute(db);
}

/** Uploads documents, asks for jobs and deletes documents until it is stopped. Throws what a request failed with. */
function startWriters(api: TestApi, tenant: Tenant): () => Promise<void> {
  let stopped = false;
  const { token } = tenant.owner;
  const expectOk = ({ status, body }: Answer) => expect(status, JSON.stringify(body)).to.equal(200);
  const writer = async () => {
    do {
      const { id } = await api.upload(tenant, { bytes: randomBytes(2_500).toString('hex') });
      expectOk(await api.request('POST', '/api/v1/jobs', { token, body: { kind: 'document.extract', documentId: id } }));
      const { id: other } = await api.upload(tenant, { bytes: randomBytes(2_500).toString('hex') });
      expectOk(await api.request('DELETE', `/api/v1/documents/${other}`, { token }));
    } while (!stopped);
  };
  const writers = Promise.all([writer(), writer()]);
  writers.catch(() => undefined);
  return async () => {
    stopped = true;
    await writers;
  };
}

async function count(db: Db, table: 'document' | 'job' | 'mail' | 'object_to_delete' | 'outbox'): Promise<number> {
  const { found } = await db.selectFrom(table).select(sql<number>`count(*)`.as('found')).executeTakeFirstOrThrow();
  return found;
}

async function countJobs(db: Db, status: 'queued' | 'running'): Promise<number> {
  const { found } = await db
    .selectFrom('job')
    .select(sql<number>`count(*)`.as('found'))
    .where('status', '=', status)
    .executeTakeFirstOrThrow();
  return found;
}
