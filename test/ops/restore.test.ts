import { randomBytes } from 'node:crypto';
import { appendFileSync, cpSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, unlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { sql } from 'kysely';
import type { Environment } from '../../base/config/environment.ts';
import { getMigrationStatus, migrate } from '../../db/migrate.ts';
import { migrations } from '../../db/migrations/index.ts';
import { measureWaiting } from '../../domain/platform/measure-platform.ts';
import { createEmptyDatabase, createTestDatabase, type TestDatabase } from '../support/database.ts';
import { makeTestDirectory, removeTestDirectory } from '../support/directories.ts';
import { nightlySuite } from '../support/nightly.ts';
import { opsResult, runOps, startOps } from '../support/ops.ts';
import { runProgram, until } from '../support/processes.ts';
import { useApi } from '../support/use-api.ts';

nightlySuite('npm run ops -- backup and restore', () => {
  const { api, tenant } = useApi();
  const root = makeTestDirectory();
  const backup = join(root, 'backup');
  const databases: TestDatabase[] = [];
  let newDatabase: TestDatabase;

  before('makes a backup', async () => {
    for (const bytes of ['the first', 'the second', randomBytes(300_000).toString('hex')]) await api.upload(tenant, { bytes });
    await opsResult(['backup', backup], api.stack.env);
    newDatabase = await use(createTestDatabase());
  });
  after(async () => {
    for (const database of databases) await database.drop();
    removeTestDirectory(root);
  });

  async function use(made: Promise<TestDatabase>): Promise<TestDatabase> {
    const database = await made;
    databases.push(database);
    return database;
  }
  const newDirectory = (name: string) => join(root, `${name}-${randomBytes(4).toString('hex')}`);
  const newStore = () => {
    const directory = newDirectory('store');
    mkdirSync(directory);
    return directory;
  };
  /** Restores the backup into a database and a store of their own. */
  async function restore(directory = backup) {
    const database = await use(createEmptyDatabase());
    const env = { DATABASE_URL: database.url, DATA_DIR: newStore() };
    return { database, env, result: await opsResult(['restore', directory], env) };
  }
  /** A copy of the backup that something happened to. */
  function damaged(damage: (copy: string) => void): string {
    const copy = newDirectory('damaged');
    cpSync(backup, copy, { recursive: true });
    damage(copy);
    return copy;
  }
  const countUsers = async ({ db }: TestDatabase) => (await db.selectFrom('user').select('id').execute()).length;

  /** The command fails with a sentence; the database and the store stay empty, unless others are given. */
  async function refuses(args: string[], sentence: RegExp, env: Environment = {}, expectedCode = 1) {
    const store = newStore();
    const { code, stdout, stderr } = await runOps(args, { DATABASE_URL: newDatabase.url, DATA_DIR: store, ...env });
    expect([code, stdout], stderr).to.deep.equal([expectedCode, '']);
    expect(stderr)
      .to.match(sentence)
      .and.not.match(/\n +at /);
    expect(readdirSync(store)).to.deep.equal([]);
    expect(await countUsers(newDatabase)).to.equal(0);
  }

  it('holds what was committed when it began, and nothing that is committed while it is written', async () => {
    const { database, env } = await restore();
    const directory = newDirectory('backup');
    const flag = { description: '', enabled: true };
    await database.db
      .insertInto('feature_flag')
      .values({ key: 'before', ...flag })
      .execute();
    const { backingUp } = await database.db.transaction().execute(async (trx) => {
      await sql`lock table feature_flag, workspace`.execute(trx);
      const backingUp = opsResult(['backup', directory], env);
      await until(() => waitsForLock(database, 'sheaf backup'));
      await trx
        .insertInto('feature_flag')
        .values({ key: 'meanwhile', ...flag })
        .execute();
      await sql`update workspace set name = 'meanwhile'`.execute(trx);
      return { backingUp };
    });
    await backingUp;
    const { snapshotAt, deployment } = JSON.parse(readFileSync(join(directory, 'manifest.json'), 'utf8'));
    const { database: again } = await restore(directory);
    expect(await again.db.selectFrom('feature_flag').select('key').execute()).to.deep.equal([{ key: 'before' }]);
    expect(await again.db.selectFrom('workspace').select('name').execute()).to.deep.equal([{ name: 'Main' }]);
    // The audit log says what it lacks.
    const entry = again.db.selectFrom('audit_entry').selectAll().orderBy('created_at', 'desc').orderBy('id', 'desc').limit(1);
    expect(await entry.executeTakeFirst()).to.deep.include({
      ...{ organization_id: null, action: 'deployment.restore', target_id: deployment, metadata: { snapshotAt } },
    });
  });

  it('numbers what it asks of Stripe after all that it asked since the backup: checkouts of then may still be open', async () => {
    const { database, env } = await restore();
    const next = async ({ db }: TestDatabase) => {
      const { rows } = await sql<{ next: number }>`select nextval('subscription_fetch')::int as next`.execute(db);
      return rows[0]?.next ?? 0;
    };
    await next(database);
    const directory = newDirectory('backup');
    await opsResult(['backup', directory], env);
    for (let asked = 0; asked < 3; asked++) await next(database);
    const { database: again } = await restore(directory);
    expect(await next(again)).to.be.greaterThan(await next(database));
  });

  it('keeps the files of a backup to their owner', () => {
    const files = readdirSync(backup, { recursive: true, withFileTypes: true });
    expect(files.map(({ name }) => name)).to.include.members(['manifest.json', 'job.copy', 'objects.jsonl']);
    for (const file of files) expect(statSync(join(file.parentPath, file.name)).mode & 0o077, file.name).to.equal(0);
  });

  describe('a database with rows', () => {
    it('is refused', async () => {
      const { env } = await restore();
      await refuses(['restore', backup], /^The database is not empty: \w+ has rows.*--replace/, { DATABASE_URL: env.DATABASE_URL });
    });

    it('is replaced if asked for, with objects that are not those of the backup', async () => {
      const { database, env } = await restore();
      await database.db.insertInto('feature_flag').values({ key: 'later', description: '', enabled: true }).execute();
      const user = await database.db.selectFrom('user').select('id').executeTakeFirstOrThrow();
      await sql`insert into session (id, "userId", token, "expiresAt", "createdAt", "updatedAt")
        values ('later', ${user.id}, 'later', now(), now(), now())`.execute(database.db);
      const [object = ''] = objectsOf(backup);
      const stored = join(env.DATA_DIR, 'objects', object);
      unlinkSync(stored);
      writeFileSync(stored, 'another');
      const result = await opsResult(['restore', backup, '--replace'], env);
      expect(result.objects).to.include({ count: 3, kept: 2 });
      expect(readFileSync(stored)).to.deep.equal(readFileSync(join(backup, 'objects', object)));
      expect(await database.db.selectFrom('feature_flag').selectAll().execute()).to.deep.equal([]);
      expect(await database.db.selectFrom('session').selectAll().execute()).to.deep.equal([]);
      expect(await countUsers(database)).to.equal(await countUsers(api.database));
    });

    it('is not replaced while its service runs', async () => {
      const users = await countUsers(api.database);
      await refuses(['restore', backup, '--replace'], /^The service runs \(.*sheaf (api|listen).*\)\. Stop it first/, {
        DATABASE_URL: api.database.url,
      });
      expect(await countUsers(api.database)).to.equal(users);
    });

    // The first release has one migration, so none of its databases has an older schema.
    const [last = '', previous] = Object.keys(migrations).sort().reverse();
    if (previous !== undefined) {
      it('of an older schema is refused before it is migrated', async () => {
        const { [last]: _, ...shipped } = migrations;
        const older = await use(createEmptyDatabase());
        await migrate(older.db, { shipped });
        await older.db.insertInto('feature_flag').values({ key: 'old', description: '', enabled: true }).execute();
        const env = { DATABASE_URL: older.url };
        await refuses(['restore', backup], /^The database is not empty: feature_flag has rows/, env);
        await refuses(['restore', backup, '--replace'], /^The backup is of deployment \S+, and the database of \S+\./, env);
        const { pending } = await getMigrationStatus(older.db);
        expect(pending.filter((name) => !name.startsWith('triggers/'))).to.deep.equal([last]);
      });
    }

    it('that is not of this service is refused, and gets no tables', async () => {
      const other = await use(createEmptyDatabase());
      await sql`create table customer (id text)`.execute(other.db);
      for (const flags of [[], ['--replace']])
        await refuses(['restore', backup, ...flags], /^The database has tables that are not of this service, such as customer\./, {
          DATABASE_URL: other.url,
        });
      const { rows } = await sql`select tablename from pg_tables where schemaname = 'public'`.execute(other.db);
      expect(rows).to.deep.equal([{ tablename: 'customer' }]);
    });

    it('is never replaced by a backup of another deployment', async () => {
      const { database, env } = await restore();
      await sql`update deployment set id = 'another'`.execute(database.db);
      await refuses(['restore', backup, '--replace'], /^The backup is of deployment \S+, and the database of another\./, {
        DATABASE_URL: env.DATABASE_URL,
      });
      expect(await countUsers(database)).to.be.greaterThan(0);
    });

    it('may be that of a new service, which has nobody yet', async () => {
      const database = await use(createTestDatabase());
      await sql`insert into plan_limit values ('free', 3, 14)`.execute(database.db);
      await opsResult(['restore', backup], { DATABASE_URL: database.url, DATA_DIR: newStore() });
      const deployments = await database.db.selectFrom('deployment').select('id').execute();
      expect(deployments).to.deep.equal(await api.database.db.selectFrom('deployment').select('id').execute());
    });
  });

  describe('a store', () => {
    it('of another deployment is refused, and left alone', async () => {
      const store = newStore();
      mkdirSync(join(store, 'objects'));
      writeFileSync(join(store, 'objects/.deployment'), 'another');
      await refuses(['restore', backup], /^The store \S+ belongs to deployment another, and the backup is of \S+\./, { DATA_DIR: store });
      await refuses(['backup', newDirectory('backup')], /^The store \S+ belongs to deployment another/, {
        ...databaseOf(api.stack.env),
        DATA_DIR: store,
      });
      expect(readdirSync(join(store, 'objects'))).to.deep.equal(['.deployment']);
    });

    it('becomes that of the restored database', async () => {
      const { database, env } = await restore();
      const { id } = await database.db.selectFrom('deployment').select('id').executeTakeFirstOrThrow();
      expect(readFileSync(join(env.DATA_DIR, 'objects/.deployment'), 'utf8')).to.equal(id);
    });

    it('with another object under a key is refused; what it has of the backup is kept, so that a restore can be begun again', async () => {
      const [object = '', kept = ''] = objectsOf(backup);
      const store = newStore();
      for (const key of [object, kept]) cpSync(join(backup, 'objects', key), join(store, 'objects', key));
      writeFileSync(join(store, 'objects', object), 'another');
      const database = await use(createEmptyDatabase());
      const env = { DATABASE_URL: database.url, DATA_DIR: store };
      const { code, stderr } = await runOps(['restore', backup], env);
      expect(code).to.equal(1);
      expect(stderr).to.match(/The store has another object as /);
      expect(await countUsers(database)).to.equal(0);
      rmSync(join(store, 'objects', object));
      expect((await opsResult(['restore', backup], env)).objects.kept).to.be.at.least(1);
    });

    it('that has none of the objects is not the store of the database: there is no backup', async () => {
      const directory = newDirectory('backup');
      await refuses(['backup', directory], /^The store \S+ has none of the 3 objects/m, databaseOf(api.stack.env));
      expect(readdirSync(directory)).to.deep.equal([]);
    });

    it('that has lost an object is backed up with a warning', async () => {
      const { env } = await restore();
      const [object = ''] = objectsOf(backup);
      rmSync(join(env.DATA_DIR, 'objects', object));
      const directory = newDirectory('backup');
      const { code, stderr } = await runOps(['backup', directory], env);
      expect(code).to.equal(0);
      expect(stderr).to.match(/^WARNING: .* lost the objects of 1 /m);
      const { result } = await restore(directory);
      expect(result.objects).to.include({ count: 2, absent: 1 });
    });
  });

  describe('a backup is refused', () => {
    it('without its manifest, or if it is none', async () => {
      await refuses(['restore', damaged((copy) => rmSync(join(copy, 'manifest.json')))], /has no manifest\.json: it is no backup, or one/);
      await refuses(['restore', join(root, 'nowhere')], /has no manifest\.json/);
      await refuses(['restore', 'package.json'], /has no manifest\.json/);
      await refuses(['restore', 'docs'], /has no manifest\.json/);
    });

    it('with a manifest that is cut off, or of a later form', async () => {
      const cut = damaged((copy) => writeFileSync(join(copy, 'manifest.json'), '{"format": 1,'));
      await refuses(['restore', cut], /^The manifest\.json of \S+ is damaged, or of another version/);
      const later = damaged((copy) => changeManifest(copy, (manifest) => (manifest.format = 2)));
      await refuses(['restore', later], /damaged, or of another version of this program \(format\)/);
    });

    it('of a newer schema', async () => {
      const newer = damaged((copy) => changeManifest(copy, (manifest) => manifest.migrations.push('9999-later')));
      await refuses(['restore', newer], /^The backup has a newer schema than this version \(9999-later\)/);
    });

    it('with a table that was changed, or is missing', async () => {
      const changed = damaged((copy) => appendFileSync(join(copy, 'tables/user.copy'), 'x'));
      await refuses(['restore', changed], /The backup is damaged: tables\/user\.copy is not/);
      await refuses(['restore', damaged((copy) => rmSync(join(copy, 'tables/job.copy')))], /not whole: tables\/job\.copy is missing/);
    });

    it('with an object that was changed, or is missing, also with --check', async () => {
      const [object = ''] = objectsOf(backup);
      const flipped = damaged((copy) => {
        const bytes = readFileSync(join(copy, 'objects', object));
        bytes[0] = (bytes[0] ?? 0) ^ 1;
        writeFileSync(join(copy, 'objects', object), bytes);
      });
      await refuses(['restore', flipped], /damaged: objects\/\S+ is not what was written/);
      await refuses(['restore', flipped, '--check'], /damaged: objects\/\S+ is not what was written/);
      await refuses(['restore', damaged((copy) => rmSync(join(copy, 'objects', object)))], /not whole: objects\/\S+ is missing/);
    });
  });

  it('makes every key, reference and index again, and leaves triggers on', async () => {
    const { database } = await restore();
    expect(await readSchema(database)).to.deep.equal(await readSchema(newDatabase));
  });

  const [last = '', previous] = Object.keys(migrations).sort().reverse();
  if (previous !== undefined) {
    it('takes a backup of an older schema into a new database, and migrates it', async () => {
      const older = await use(createEmptyDatabase());
      const { [last]: _, ...shipped } = migrations;
      await migrate(older.db, { shipped });
      await older.db.insertInto('feature_flag').values({ key: 'old', description: '', enabled: true }).execute();
      const directory = newDirectory('backup');
      await opsResult(['backup', directory], { DATABASE_URL: older.url, DATA_DIR: newStore() });
      const { database } = await restore(directory);
      expect(await database.db.selectFrom('feature_flag').select('key').execute()).to.deep.equal([{ key: 'old' }]);
      expect((await getMigrationStatus(database.db)).pending).to.deep.equal([]);
      await refuses(['restore', directory], /^The backup has an older schema than the database/);
    });
  }

  describe('interrupted', () => {
    it('a backup is none', async () => {
      const { database, env } = await restore();
      const directory = newDirectory('backup');
      await database.db.transaction().execute(async (trx) => {
        await sql`lock table workspace`.execute(trx);
        const program = startOps(['backup', directory], env);
        await until(() => waitsForLock(database, 'sheaf backup'));
        program.child.kill('SIGKILL');
        await program.exited;
      });
      expect(readdirSync(directory)).to.include('tables');
      await refuses(['restore', directory], /has no manifest\.json/);
      await refuses(['backup', directory], /is not empty\. A backup needs a new directory/, env);
    });

    it('a restore has held the mails by the time that they are back: nobody is told that they are late', async () => {
      const { database: source, env } = await restore();
      const mail = { id: 'waits', kind: 'contact' as const, recipient: 'ada@example.com', subject: 'It waits', body: 'A text.' };
      await source.db.insertInto('mail').values(mail).execute();
      const directory = newDirectory('backup');
      await opsResult(['backup', directory], env);
      const { db, url } = await use(createTestDatabase());
      // What is still to be done after the commit might not be.
      await sql`create function refuse() returns trigger language plpgsql as $$ begin raise 'held too late'; end $$`.execute(db);
      await sql`create trigger held_too_late before update on mail for each row execute function refuse()`.execute(db);
      expect(await opsResult(['restore', directory], { DATABASE_URL: url, DATA_DIR: newStore() })).to.include({ mailsHeld: 1 });
      expect((await measureWaiting(db)).mails).to.include({ size: 0 });
    });

    it('a restore has changed no row, and can be begun again', async () => {
      const database = await use(createTestDatabase());
      const env = { DATABASE_URL: database.url, DATA_DIR: newStore() };
      await database.db.transaction().execute(async (trx) => {
        // Its number is set after all tables are filled.
        await sql`alter sequence outbox_id_seq cache 1`.execute(trx);
        const program = startOps(['restore', backup], env);
        await until(() => waitsForLock(database, 'sheaf restore'));
        program.child.kill('SIGKILL');
        await program.exited;
      });
      expect(await countUsers(database)).to.equal(0);
      const { objects } = await opsResult(['restore', backup], env);
      expect(objects).to.include({ count: 3, kept: 3 });
      expect(await countUsers(database)).to.equal(await countUsers(api.database));
    });
  });

  describe('a disk that takes no more', () => {
    /** Files cannot become longer than 100 KiB. */
    async function runOnFullDisk(args: string[], env: Environment) {
      const program = runProgram('sh', ['-c', 'ulimit -f 200; exec "$0" ops/main.ts "$@"', process.execPath, ...args], { env });
      const { code } = await program.exited;
      return { code, stderr: program.stderr() };
    }

    it('ends a backup, of which nothing is left', async () => {
      const directory = newDirectory('backup');
      const { code, stderr } = await runOnFullDisk(['backup', directory], api.stack.env);
      expect(code, stderr).to.equal(1);
      expect(stderr)
        .to.match(/could not be copied: EFBIG/)
        .and.not.match(/\n +at /);
      expect(readdirSync(directory)).to.deep.equal([]);
    });

    it('ends a restore, which can be begun again', async () => {
      const database = await use(createEmptyDatabase());
      const env = { DATABASE_URL: database.url, DATA_DIR: newStore() };
      const { code, stderr } = await runOnFullDisk(['restore', backup], env);
      expect(code, stderr).to.equal(1);
      expect(stderr)
        .to.match(/The store did not take \S+: EFBIG/)
        .and.not.match(/\n +at /);
      expect(await countUsers(database)).to.equal(0);
      expect((await opsResult(['restore', backup], env)).objects).to.include({ count: 3 });
    });
  });

  it('refuses a directory for a backup that has something in it, or cannot be one', async () => {
    await refuses(['backup', backup], /is not empty\. A backup needs a new directory/, api.stack.env);
    await refuses(['backup', 'package.json'], /^A backup cannot be written there: EEXIST/, databaseOf(api.stack.env));
    // Nothing can be made there, although it is there.
    await refuses(['backup', '/proc/backup/of-today'], /^A backup cannot be written there: ENOENT/, databaseOf(api.stack.env));
  });

  it('refuses a database that is not of this service', async () => {
    const empty = await use(createEmptyDatabase());
    await refuses(['backup', newDirectory('backup')], /^The database has no tables of this service/, { DATABASE_URL: empty.url });
    await sql`create table kysely_migration (name text)`.execute(empty.db);
    await sql`insert into kysely_migration values ('9999-later')`.execute(empty.db);
    const env = { DATABASE_URL: empty.url };
    await refuses(['backup', newDirectory('backup')], /^The database is migrated by a newer version/, env);
    await refuses(['restore', backup], /^The database is migrated by a newer version/, env);
  });

  it('refuses what is left of its arguments when npm keeps a flag for itself, instead of restoring', async () => {
    const store = newStore();
    const program = runProgram('npm', ['run', 'ops', 'restore', backup, '--check'], {
      env: { DATABASE_URL: newDatabase.url, DATA_DIR: store },
    });
    expect((await program.exited).code, program.stderr()).to.equal(2);
    expect(program.stderr()).to.match(/^npm took --check for itself: put `--` before the flags\.$/m);
    expect([await countUsers(newDatabase), readdirSync(store)]).to.deep.equal([0, []]);
    await refuses(
      ['restore', backup],
      /^npm took --check and --replace for itself/,
      { npm_config_check: 'true', npm_config_replace: 'true' },
      2,
    );
    const env = { DATABASE_URL: newDatabase.url, DATA_DIR: newStore(), npm_config_check: 'true', npm_config_replace: 'false' };
    expect(await opsResult(['restore', backup, '--check'], env)).to.include({ sound: true });
  });
});

const manifestOf = (directory: string) => JSON.parse(readFileSync(join(directory, 'manifest.json'), 'utf8'));

function changeManifest(directory: string, change: (manifest: any) => void): void {
  const manifest = manifestOf(directory);
  change(manifest);
  writeFileSync(join(directory, 'manifest.json'), JSON.stringify(manifest));
}

/** The keys of the objects in a backup, the largest first. */
function objectsOf(directory: string): string[] {
  const lines = readFileSync(join(directory, 'objects.jsonl'), 'utf8').trim().split('\n');
  const objects: { key: string; bytes: number }[] = lines.map((line) => JSON.parse(line));
  return objects.sort((one, other) => other.bytes - one.bytes).map(({ key }) => key);
}

function databaseOf({ DATABASE_URL, DATABASE_DIRECT_URL }: Environment): Environment {
  return DATABASE_DIRECT_URL === undefined ? { DATABASE_URL } : { DATABASE_URL, DATABASE_DIRECT_URL };
}

async function waitsForLock({ db }: TestDatabase, name: string): Promise<boolean> {
  const { rows } = await sql`select from pg_stat_activity
    where datname = current_database() and application_name = ${name} and wait_event_type = 'Lock'`.execute(db);
  return rows.length > 0;
}

/** The keys, references, checks, indexes and triggers of a database, as Postgres writes them. */
async function readSchema({ db }: TestDatabase): Promise<string[]> {
  const { rows } = await sql<{ line: string }>`
    select conrelid::regclass || ' ' || conname || ' ' || pg_get_constraintdef(oid) || ' ' || convalidated as line
      from pg_constraint where connamespace = current_schema()::regnamespace
    union all select indexdef from pg_indexes where schemaname = current_schema()
    union all select tgrelid::regclass || ' ' || tgname || ' ' || tgenabled::text from pg_trigger where not tgisinternal
    order by line`.execute(db);
  expect(rows).to.have.length.above(300);
  return rows.map(({ line }) => line);
}
