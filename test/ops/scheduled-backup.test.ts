import { cpSync, mkdirSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { sql } from 'kysely';
import { measureWaiting } from '../../domain/platform/measure-platform.ts';
import { makeTestDirectory, removeTestDirectory } from '../support/directories.ts';
import { createJob, summary } from '../support/jobs.ts';
import { opsResult, runOps } from '../support/ops.ts';
import { useApi } from '../support/use-api.ts';

describe('npm run ops -- backup --keep, and restore --rehearse', () => {
  const { api, tenant } = useApi({ ai: true });
  const root = makeTestDirectory();
  const backup = join(root, 'backup');
  after(() => removeTestDirectory(root));

  before('makes a backup of a service with documents and paid jobs', async () => {
    await api.upload(tenant, { bytes: 'the first' });
    const { id } = await createJob(api, tenant, summary);
    await api.jobIn(tenant.owner.token, id, ['succeeded']);
    await opsResult(['backup', backup], api.stack.env);
  });

  const rehearse = (directory = backup, env = api.stack.env) => runOps(['restore', directory, '--rehearse'], env);
  async function rehearsals(): Promise<string[]> {
    const { rows } = await sql<{ name: string }>`
      select datname as name from pg_database where datname = current_database() || '_rehearsal'`.execute(api.database.db);
    return rows.map(({ name }) => name);
  }

  it('note as of when the latest backup is, for the metric of its age', async () => {
    const { db } = api.database;
    await db.updateTable('deployment').set({ backed_up_at: null }).execute();
    expect((await measureWaiting(db)).backupSeconds).to.equal(null);
    const { snapshotAt } = await opsResult(['backup', join(root, 'noted')], api.stack.env);
    expect(await db.selectFrom('deployment').select('backed_up_at').execute()).to.deep.equal([{ backed_up_at: new Date(snapshotAt) }]);
    await db.updateTable('deployment').set({ backed_up_at: sql`now() - interval '1 hour'` }).execute();
    expect((await measureWaiting(db)).backupSeconds).to.equal(3_600);
    const { code } = await runOps(['backup', join(root, 'noted')], api.stack.env);
    expect([code, (await measureWaiting(db)).backupSeconds], 'one that fails').to.deep.equal([1, 3_600]);
  });

  it('keep all of the latest days that are whole, and leave what is no backup of theirs', async () => {
    const all = join(root, 'all');
    const lastDay = ['sheaf-20260104T020000Z', 'sheaf-20260104T110000Z'];
    const whole = ['sheaf-20260102T020000Z', ...lastDay];
    for (const name of whole) cpSync(backup, join(all, name), { recursive: true });
    const killed = ['sheaf-20260101T020000Z', 'sheaf-20260103T020000Z', 'sheaf-20260105T020000Z'];
    for (const name of [...killed, 'of-mine']) mkdirSync(join(all, name));
    const { code, stderr } = await runOps(['backup', all, '--keep', '2'], api.stack.env);
    expect(code, stderr).to.equal(0);
    expect(stderr).to.match(/^(\S+\/sheaf-\w+ is deleted\.\n){3}$/);
    const [mine, first, second, another, made = '', ...more] = readdirSync(all).sort();
    expect([mine, first, second, another, more]).to.deep.equal(['of-mine', ...lastDay, 'sheaf-20260105T020000Z', []]);
    expect(await opsResult(['restore', join(all, made), '--check'], api.stack.env)).to.include({ sound: true });
  });

  it('keep the new one though the clock was set back since the others were made', async () => {
    const all = join(root, 'later');
    for (const name of ['sheaf-29991230T235959Z', 'sheaf-29991231T235959Z']) cpSync(backup, join(all, name), { recursive: true });
    const { directory } = await opsResult(['backup', all, '--keep', '2'], api.stack.env);
    expect(readdirSync(all)).to.deep.equal(['sheaf-29991231T235959Z', 'sheaf-30000101T000000Z']);
    expect(directory).to.equal(join(all, 'sheaf-30000101T000000Z'));
  });

  it('delete nothing if the backup fails', async () => {
    const all = join(root, 'failing');
    cpSync(backup, join(all, 'sheaf-20260102T020000Z'), { recursive: true });
    const { code } = await runOps(['backup', all, '--keep', '1'], { ...api.stack.env, DATABASE_URL: 'postgres://nobody@127.0.0.1:1/x' });
    expect(code).to.equal(1);
    expect(readdirSync(all)).to.include('sheaf-20260102T020000Z');
  });

  it('rehearse a restore beside the service that runs, and leave nothing behind', async () => {
    const { code, stdout, stderr } = await rehearse();
    expect([code, stderr]).to.deep.equal([0, 'Verifying the backup …\n']);
    expect(stdout).to.match(/can be restored, as of \S+: \d+ rows loaded, the ledger is sound, 1 object verified\. It took/);
    expect(await rehearsals()).to.deep.equal([]);
    expect((await api.database.db.selectFrom('job').select('status').execute()).map(({ status }) => status)).to.deep.equal(['succeeded']);
  });

  it('fail a rehearsal whose ledger is off, and leave nothing behind', async () => {
    const off = join(root, 'off');
    const change = (by: number) => sql`update credit_entry set amount = amount + ${by}`.execute(api.database.db);
    await change(1);
    await opsResult(['backup', off], api.stack.env).finally(() => change(-1));
    const { code, stderr } = await rehearse(off);
    expect(code).to.equal(1);
    expect(stderr).to.match(/The restored ledger is off in/);
    expect(await rehearsals()).to.deep.equal([]);
  });

  it('say that a rehearsal was left there, and drop nothing', async () => {
    const { db } = api.database;
    const { rows } = await sql<{ name: string }>`select current_database() || '_rehearsal' as name`.execute(db);
    const name = sql.id(rows[0]?.name ?? '');
    await sql`create database ${name}`.execute(db);
    const { code, stderr } = await rehearse();
    expect(code).to.equal(1);
    expect(stderr).to.match(/cannot be made .* already exists\. If it was left/);
    expect(await rehearsals()).to.have.length(1);
    await sql`drop database ${name}`.execute(db);
  });
});
