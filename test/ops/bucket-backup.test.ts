import { existsSync, mkdirSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect } from 'chai';
import { sql } from 'kysely';
import type { Environment } from '../../base/config/environment.ts';
import { type S3Server, startS3Server } from '../adapters/storage/s3-server.ts';
import { createEmptyDatabase } from '../support/database.ts';
import { makeTestDirectory, removeTestDirectory } from '../support/directories.ts';
import { createJob, summary } from '../support/jobs.ts';
import { nightly } from '../support/nightly.ts';
import { runOps, startOps } from '../support/ops.ts';
import { until } from '../support/processes.ts';
import { useApi } from '../support/use-api.ts';

describe('npm run ops -- backup and restore in a bucket', function () {
  this.timeout(120_000);
  const { api, tenant } = useApi({ ai: true });
  let server: S3Server;
  let bucket: string;
  let access: Environment;
  let documentId: string;

  before(async () => {
    server = await startS3Server();
    bucket = join(dirname(server.directory), 'backups');
    mkdirSync(bucket);
    const { apiEndpoint, credentials } = server.options;
    access = {
      AWS_ENDPOINT_URL_S3: apiEndpoint,
      AWS_REGION: 'us-east-1',
      AWS_ACCESS_KEY_ID: credentials?.accessKeyId ?? '',
      AWS_SECRET_ACCESS_KEY: credentials?.secretAccessKey ?? '',
    };
    ({ id: documentId } = await api.upload(tenant, { bytes: 'the first' }));
    const { id } = await createJob(api, tenant, summary);
    await api.jobIn(tenant.owner.token, id, ['succeeded']);
  });
  after(() => server.close());

  /** In a process of its own, since the library of Amazon reads its variables itself. */
  async function run(args: string[], env: Environment = {}) {
    const program = startOps(args, { ...api.stack.env, ...access, ...env });
    const { code } = await program.exited;
    return { code, stdout: program.stdout(), stderr: program.stderr() };
  }
  const backups = () => readdirSync(join(bucket, 'of/sheaf')).sort();

  nightly('makes one that can be restored, beside the service and elsewhere', async () => {
    const made = await run(['backup', 's3://backups/first', '--json']);
    expect(made.code, made.stderr).to.equal(0);
    expect(JSON.parse(made.stdout)).to.deep.include({ directory: 's3://backups/first' });
    expect(readdirSync(join(bucket, 'first')).sort()).to.deep.equal(['manifest.json', 'objects', 'objects.jsonl', 'tables']);
    const again = await run(['backup', 's3://backups/first/']);
    expect(again).to.deep.include({ code: 1 });
    expect(again.stderr).to.include('s3://backups/first is not empty');

    const rehearsed = await run(['restore', 's3://backups/first', '--rehearse']);
    expect(rehearsed.code, rehearsed.stderr).to.equal(0);
    expect(rehearsed.stdout).to.match(/^s3:\/\/backups\/first can be restored, .* the ledger is sound, 1 object verified\./);

    const database = await createEmptyDatabase();
    const dataDir = makeTestDirectory();
    try {
      const restored = await run(['restore', 's3://backups/first'], { DATABASE_URL: database.url, DATA_DIR: dataDir });
      expect(restored.code, restored.stderr).to.equal(0);
      const rows = await database.db.selectFrom('document').select(['id', 'object_key']).execute();
      expect(rows.map(({ id }) => id)).to.deep.equal([documentId]);
      expect(existsSync(join(dataDir, 'objects', rows[0]?.object_key ?? ''))).to.equal(true);
    } finally {
      await database.drop();
      removeTestDirectory(dataDir);
    }
  });

  it('keeps the latest, and removes what is older', async () => {
    for (const name of ['sheaf-20260101T020000Z', 'sheaf-20260102T020000Z']) {
      mkdirSync(join(bucket, 'of/sheaf', name, 'tables'), { recursive: true });
      for (const file of ['manifest.json', 'tables/job.copy']) writeFileSync(join(bucket, 'of/sheaf', name, file), '{}');
    }
    const { code, stderr } = await run(['backup', 's3://backups/of/sheaf', '--keep', '2']);
    expect(code, stderr).to.equal(0);
    expect(stderr).to.include('s3://backups/of/sheaf/sheaf-20260101T020000Z is deleted.');
    const [older, made, ...more] = backups();
    expect([older, more]).to.deep.equal(['sheaf-20260102T020000Z', []]);
    const checked = await run(['restore', `s3://backups/of/sheaf/${made}`, '--check']);
    expect(checked.code, checked.stderr).to.equal(0);
  });

  it('leaves nothing of a backup that fails, and deletes no other', async () => {
    const before = backups();
    const objects = join(api.stack.env.DATA_DIR ?? '', 'objects');
    renameSync(objects, `${objects}-away`);
    try {
      expect(await run(['backup', 's3://backups/of/sheaf', '--keep', '1'])).to.deep.include({ code: 1 });
    } finally {
      rmSync(objects, { recursive: true, force: true });
      renameSync(`${objects}-away`, objects);
    }
    expect(backups()).to.deep.equal(before);
  });

  it('names the database, and not the bucket, if that is what fails', async () => {
    const { db } = api.database;
    const { code, stderr } = await db.transaction().execute(async (trx) => {
      await sql`lock table feature_flag in access exclusive mode`.execute(trx);
      const backup = run(['backup', 's3://backups/locked']);
      await until(async () => {
        const { rows } = await sql`select pg_terminate_backend(pid) from pg_stat_activity
          where datname = current_database() and application_name = 'sheaf backup' and wait_event_type = 'Lock'`.execute(db);
        return rows.length > 0;
      });
      return await backup;
    });
    expect(code, stderr).to.equal(1);
    expect(stderr).to.equal('The database cannot be reached: terminating connection due to administrator command\n');
    expect(existsSync(join(bucket, 'locked'))).to.equal(false);
  });

  it('takes no other kind of address for a directory', async () => {
    for (const [address, args] of [
      ['gs://backups/x', ['backup']],
      ['S3://backups/x', ['restore', '--check']],
    ] as const) {
      const { code, stderr } = await runOps([...args, address], api.stack.env);
      expect(code, stderr).to.equal(1);
      expect(stderr).to.equal(`${address} is no directory, and no bucket of S3 (s3://BUCKET/PREFIX).\n`);
      expect(existsSync(address)).to.equal(false);
    }
  });

  nightly('says what is damaged, absent or refused', async () => {
    writeFileSync(join(bucket, 'first/tables/job.copy'), 'another');
    const failures: [string[], Environment, RegExp][] = [
      [['restore', 's3://backups/first', '--check'], {}, /The backup is damaged: tables\/job\.copy/],
      [['restore', 's3://backups/none', '--check'], {}, /s3:\/\/backups\/none has no manifest\.json/],
      [['backup', 's3://none/x'], {}, /^s3:\/\/none\/x: NoSuchBucket/m],
      [['backup', 's3://backups/x'], { AWS_SECRET_ACCESS_KEY: 'another' }, /^s3:\/\/backups\/x: SignatureDoesNotMatch/m],
    ];
    for (const [args, env, message] of failures) {
      const { code, stderr } = await run(args, env);
      expect(code, stderr).to.equal(1);
      expect(stderr).to.match(message);
    }
  });
});
