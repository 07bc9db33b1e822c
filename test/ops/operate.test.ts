import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { sql } from 'kysely';
import type { Environment } from '../../base/config/environment.ts';
import { startMail } from '../../contract/intents/definitions.ts';
import { advisoryLocks } from '../../db/advisory-locks.ts';
import { migrations } from '../../db/migrations/index.ts';
import { chunkingOf, chunkSize } from '../../domain/chunking/chunking.ts';
import { findFreePorts } from '../../ops/local/ports.ts';
import { createEmptyDatabase } from '../support/database.ts';
import { nightly } from '../support/nightly.ts';
import { runOps, startOps } from '../support/ops.ts';
import { runProgram, until } from '../support/processes.ts';
import { withoutSweeps } from '../support/sweeps.ts';
import { useApi } from '../support/use-api.ts';

describe('npm run ops, on a running service', () => {
  const { api, tenant } = useApi();
  let failed: string[];

  before(async () => {
    const { token } = tenant.owner;
    const { id: documentId } = await api.upload(tenant, { contentType: 'application/pdf', bytes: 'this is no PDF' });
    failed = [];
    for (let n = 0; n < 2; n++) {
      const { body } = await api.request('POST', '/api/v1/jobs', { token, body: { kind: 'document.extract', documentId } });
      failed.push(body.id);
    }
    for (const id of failed) await api.jobIn(token, id, ['failed']);
  });

  function environment(more: Environment): Environment {
    const { DATABASE_URL, TEMPORAL_ADDRESS, DATA_DIR } = api.stack.env;
    const { namespace: TEMPORAL_NAMESPACE } = api.temporal;
    return { DATABASE_URL, TEMPORAL_ADDRESS, DATA_DIR, TEMPORAL_NAMESPACE, TEMPORAL_UI_URL: 'http://temporal.example.com', ...more };
  }
  const ops = (args: string[], env: Environment = {}) => runOps(args, environment(env));
  async function answerOf(args: string[]) {
    const { code, stdout, stderr } = await ops([...args, '--json']);
    return { code, stderr, body: JSON.parse(stdout) };
  }
  const freeAddress = async () => `127.0.0.1:${(await findFreePorts(1))[0]}`;

  it('shows the backlog, what else waits, and the workers that poll each queue', async () => {
    const { db } = api.database;
    const job = { organization_id: tenant.organizationId, credits: 1, credit_month: '2026-11-01', max_attempts: 4 };
    const waiting = {
      ...job,
      id: 'waiting-job',
      kind: 'text.embed' as const,
      input: '{}',
      next_attempt_at: new Date(Date.now() + 3_600_000),
    };
    await db.insertInto('job').values(waiting).execute();
    await db.insertInto('object_to_delete').values({ key: 'o/1', organization_id: 'o', attempts: 3 }).execute();
    const mail = { kind: 'contact' as const, recipient: 'a@example.com', subject: 's', body: 'b', attempts: 1 };
    const tooLongAgo = new Date(Date.now() - 73 * 3_600_000);
    await db
      .insertInto('mail')
      .values([
        { id: 'waits', ...mail },
        { id: 'refused for good', ...mail, stopped_at: new Date() },
        { id: 'given up', ...mail, created_at: tooLongAgo },
      ])
      .execute();
    try {
      const { code, body } = await answerOf(['status']);
      expect(code).to.equal(0);
      expect(body.backlog).to.have.lengthOf(1);
      expect(body.backlog[0]).to.include({ kind: 'text.embed', organization: tenant.slug, queued: 0, waiting: 1, running: 0 });
      expect(body.outbox).to.deep.equal({ size: 0, oldestSeconds: null });
      expect(body.objectsToDelete).to.include({ size: 1, refused: 1 });
      expect(body.mails).to.include({ size: 1, refused: 1 });
      expect(body.webhooks).to.deep.equal({ size: 0, oldestSeconds: null, failingEndpoints: 0 });
      expect(body.taskQueues.map(({ queue }: { queue: string }) => queue)).to.include.members(['sheaf', 'job-text.embed']);
      for (const { queue, workers } of body.taskQueues) expect(workers, queue).to.have.lengthOf(queue === 'webhooks' ? 0 : 1);
      const { stdout } = await ops(['status']);
      expect(stdout).to.match(/text\.embed +org-\S+ +0 +1 +0 +\d+ s/);
      expect(stdout).to.match(/Objects to delete: 1, the oldest for \d+ s; the store has refused 1\n/);
      expect(stdout).to.match(/Mails to send: 1, the oldest for \d+ s; the mail server has refused 1\n/);
      expect(stdout).to.match(/job-document\.index +0 +\d+@/);
    } finally {
      await db.deleteFrom('mail').execute();
      await db.deleteFrom('job').where('id', '=', waiting.id).execute();
      await db.deleteFrom('object_to_delete').execute();
    }
  });

  for (const [what, on, off, line] of [
    [
      'is read-only, and why',
      ['read-only', '--reason', 'The database moves.'],
      ['read-only', '--off'],
      /^Read-only: The database moves\.$/m,
    ],
    ['has another log level, and until when', ['log-level', 'debug'], ['log-level', 'default'], /^Log level: debug until 2\S+Z$/m],
  ] as [string, string[], string[], RegExp][])
    it(`shows that the deployment ${what}, only while it is so`, async () => {
      expect((await ops(['status'])).stdout).not.to.match(/^(Read-only|Log level)/m);
      await ops(on);
      const { stdout } = await ops(['status']);
      await ops(off);
      expect(stdout).to.match(line);
      expect((await ops(['status'])).stdout).not.to.match(/^(Read-only|Log level)/m);
    });

  it('are processes that print what the commands say, and exit with their codes', async () => {
    const nowhere = { DATABASE_URL: `postgres://x:secret@${await freeAddress()}/x` };
    for (const [args, env, code] of [
      [['ledger'], {}, 0],
      [['status'], nowhere, 1],
      [['replay'], {}, 2],
    ] as [string[], Environment, number][]) {
      const program = startOps(args, environment(env));
      expect(await program.exited).to.deep.equal({ code, signal: null });
      expect({ code, stdout: program.stdout(), stderr: program.stderr() }).to.deep.equal(await ops(args, env));
    }
  });

  it('go on to their end if nobody reads their output any more', async () => {
    const directory = join(api.stack.dataDir, 'backup-without-a-reader');
    const program = startOps(['backup', directory], environment({}));
    program.child.stdout?.destroy();
    program.child.stderr?.destroy();
    expect(await program.exited).to.deep.equal({ code: 0, signal: null });
    expect(existsSync(join(directory, 'manifest.json'))).to.equal(true);
  });

  it('go on to their end if their output cannot be kept, and exit 1', async () => {
    const directory = join(api.stack.dataDir, 'backup-without-room');
    const program = runProgram('/bin/sh', ['-c', '"$0" ops/main.ts backup "$1" >/dev/full', process.execPath, directory], {
      env: environment({}),
    });
    expect(await program.exited).to.deep.equal({ code: 1, signal: null });
    expect(program.stderr()).to.match(/Not all of the output could be written: ENOSPC: [^\n]*\n$/);
    expect(existsSync(join(directory, 'manifest.json'))).to.equal(true);
  });

  it('says that nothing is stuck, or what is and why, and exits 1', async () => {
    await withoutSweeps(api, async () => {
      expect(await ops(['stuck'])).to.deep.equal({ code: 0, stdout: 'Nothing is stuck.\n', stderr: '' });
      const { db } = api.database;
      const month = '2026-11-01';
      const base = { organization_id: tenant.organizationId, credits: 1, credit_month: month, max_attempts: 4, input: '{}' };
      const started_at = new Date(Date.now() - 3_600_000);
      await db
        .insertInto('job')
        .values([
          { ...base, id: 'lost', kind: 'text.embed', status: 'running', attempts: 2, started_at, created_at: started_at },
          { ...base, id: 'untaken', kind: 'text.summarize', created_at: started_at, swept_at: new Date() },
        ])
        .execute();
      await db
        .insertInto('object_to_delete')
        .values({ key: 'o/1', organization_id: 'o', attempts: 3, last_error: 'no entry', created_at: started_at })
        .execute();
      const intent = startMail({ mailId: '1', kind: 'contact' });
      await sql`insert into outbox (workflow_id, intent, created_at, lease_until)
      values (${intent.workflowId}, ${JSON.stringify(intent)}, now() - interval '1 hour', now() + interval '1 hour')`.execute(db);
      try {
        const { code, stderr, body } = await answerOf(['stuck']);
        expect(code).to.equal(1);
        expect(stderr).to.equal('4 stuck.\n');
        const found = Object.fromEntries(body.stuck.map((one: { id: string; reason: string }) => [one.id, one.reason]));
        expect(Object.keys(found).sort()).to.deep.equal(['lost', 'mail-1', 'o/1', 'untaken']);
        expect(found.lost).to.match(/^attempt 2 began more than twice the timeout ago/);
        expect(found.untaken).to.match(/handler for text\.summarize\?$/);
        expect(found['o/1']).to.equal('the store refuses to delete it: no entry');
        expect(found['mail-1']).to.match(/^not dispatched/);
        // A backlog of which jobs were begun a moment ago is not stuck, and neither is an outbox that a relay works on.
        const moving = { ...base, kind: 'text.summarize', attempts: 1, started_at: new Date() } as const;
        await db
          .insertInto('job')
          .values({ ...moving, id: 'moving', status: 'running' })
          .execute();
        const other = startMail({ mailId: '2', kind: 'contact' });
        await sql`insert into outbox (workflow_id, intent, lease_until)
          values (${other.workflowId}, ${JSON.stringify(other)}, now() + interval '15 seconds')`.execute(db);
        const left = (await answerOf(['stuck'])).body.stuck.map(({ id }: { id: string }) => id);
        expect(left.sort()).to.deep.equal(['lost', 'o/1']);
        const { stdout } = await ops(['stuck']);
        expect(stdout).to.match(/^running job +lost +\S+ +60 min +attempt 2/m);
      } finally {
        await db.deleteFrom('job').where('id', 'in', ['lost', 'untaken', 'moving']).execute();
        await db.deleteFrom('object_to_delete').execute();
        await db.deleteFrom('outbox').execute();
      }
    });
  });

  nightly('names what has a wedged workflow as stuck, whatever its kind does meanwhile', async () => {
    const { db } = api.database;
    const { organizationId, owner } = await api.createTenant();
    const made = await api.request('POST', '/api/v1/jobs', {
      token: owner.token,
      body: { organizationId, kind: 'text.embed', texts: ['a'] },
    });
    await api.jobIn(owner.token, made.body.id, ['succeeded']);
    const id = 'wedged-job';
    const base = { organization_id: tenant.organizationId, credits: 1, credit_month: '2026-11-01', max_attempts: 4, input: '{}' };
    const created_at = new Date(Date.now() - 3 * 60_000);
    // As after a release that does not know the workflow.
    const handle = await api.temporal.client.workflow.start('unknownWorkflow', { taskQueue: 'sheaf', workflowId: `job-${id}`, args: [] });
    await db
      .insertInto('job')
      .values({ ...base, id, kind: 'text.embed', created_at, swept_at: new Date() })
      .execute();
    try {
      await until(async () => ((await handle.describe()).raw.pendingWorkflowTask?.attempt ?? 0) >= 3, 90_000);
      const { code, body } = await answerOf(['stuck']);
      expect(code).to.equal(1);
      expect(body.stuck).to.have.lengthOf(1);
      expect(body.stuck[0]).to.include({ what: 'queued job', id, organization: tenant.organizationId });
      expect(body.stuck[0].reason).to.match(/^workflow job-wedged-job cannot go on: its task has failed \d+ times/);
      const admin = await api.signUp();
      await api.makePlatformAdmin(admin);
      const shown = await api.request('GET', '/api/v1/admin/system/stuck', { token: admin.token });
      expect(shown.body.items).to.deep.include({ ...shown.body.items[0], what: 'queued job', id });
    } finally {
      await handle.terminate();
      await db.deleteFrom('job').where('id', '=', id).execute();
    }
  });

  for (const [args, what] of [
    [['failed', '--organization'], 'organization'],
    [['ledger', '--organization'], 'organization'],
    [['suspend', '--reason', 'a', '--organization'], 'organization'],
    [['plan', '--end', '--organization'], 'organization'],
    [['reindex', '--dry-run', '--organization'], 'organization'],
    [['reindex', '--dry-run', '--workspace'], 'workspace'],
    [['replay', '--dry-run', '--organization'], 'organization'],
  ] as const)
    it(`says that there is no such ${what}, and finds nothing right with it: ${args[0]}`, async () => {
      expect(await ops([...args, 'nope'])).to.deep.equal({ code: 1, stdout: '', stderr: `There is no ${what} nope.\n` });
    });

  it('takes no reason that the API would not: others read it', async () => {
    for (const command of [
      ['suspend', '--organization', 'nope'],
      ['plan', '--organization', 'nope', '--plan', 'team', '--until', '2100-01-01'],
      ['read-only'],
    ])
      for (const reason of [' ', 'two\nlines', 'x'.repeat(301)]) {
        const { code, stderr } = await ops([...command, '--reason', reason]);
        expect([code, stderr.split('\n')[0]]).to.deep.equal([2, '--reason takes one line of at most 300 characters that shows something.']);
      }
  });

  it('takes an organization by its slug, too, as `failed` prints it', async () => {
    const { code, body } = await answerOf(['failed', '--organization', tenant.slug]);
    expect([code, body.failures]).to.deep.equal([0, [{ ...body.failures[0], organization: tenant.slug, jobs: 2 }]]);
    const other = await api.createTenant();
    const until = '2100-01-01T00:00:00Z';
    for (const args of [
      ['ledger'],
      ['reindex', '--dry-run'],
      ['replay', '--dry-run'],
      ['suspend', '--reason', 'a'],
      ['suspend', '--lift'],
      ['plan', '--plan', 'team', '--until', until, '--reason', 'a'],
      ['plan', '--end'],
    ]) {
      const named = await ops([...args, '--organization', other.slug]);
      expect([named.code, named.stderr], args.join(' ')).to.deep.equal([0, '']);
    }
    const { db } = api.database;
    await db.insertInto('organization').values({ id: tenant.slug, name: 'N', slug: 'its-id-is-a-slug', createdAt: new Date() }).execute();
    expect((await answerOf(['failed', '--organization', tenant.slug])).body.failures, 'an id counts first').to.deep.equal([]);
    await db.deleteFrom('organization').where('id', '=', tenant.slug).execute();
  });

  it('says that the ledger is sound, or where it is off, and exits 1', async () => {
    const sound = await ops(['ledger']);
    expect(sound).to.include({ code: 0, stderr: '' });
    expect(sound.stdout).to.match(/^The ledger is sound: [1-9]\d* jobs, [1-9]\d* entries and (?:1 month|[2-9] months) compared\.\n$/);
    const { db } = api.database;
    await sql`update credit_month set used = used + 7 where organization_id = ${tenant.organizationId}`.execute(db);
    try {
      const { code, body, stderr } = await answerOf(['ledger']);
      expect(code).to.equal(1);
      expect(stderr).to.equal('The ledger is off in 1 place.\n');
      expect(body.problems).to.have.lengthOf(1);
      expect(body.problems[0]).to.include({ problem: 'month', organization_id: tenant.organizationId, expected: 0, found: 7 });
      expect((await ops(['ledger'])).stdout).to.match(/^month +\S+ +\S+ +0 +7$/m);
      const another = await api.createTenant();
      expect((await ops(['ledger', '--organization', another.organizationId])).code).to.equal(0);
    } finally {
      await sql`update credit_month set used = used - 7 where organization_id = ${tenant.organizationId}`.execute(db);
    }
  });

  it('groups failed jobs by error, kind and organization', async () => {
    const { code, body } = await answerOf(['failed', '--organization', tenant.organizationId]);
    expect(code).to.equal(0);
    expect(body.failures).to.have.lengthOf(1);
    const [{ code: errorCode }] = body.failures;
    const job = await api.request('GET', `/api/v1/jobs/${failed[0]}`, { token: tenant.owner.token });
    expect(body.failures[0]).to.include({ code: job.body.error.code, kind: 'document.extract', organization: tenant.slug, jobs: 2 });
    expect((await ops(['failed'])).stdout).to.match(new RegExp(`^${errorCode} +document\\.extract +org-\\S+ +2 +\\d{4}-\\S+Z$`, 'm'));
    const none = await ops(['failed', '--to', '2020-01-01']);
    expect(none).to.deep.equal({ code: 0, stdout: 'No job has failed.\n', stderr: '' });
  });

  it('replays failed jobs: counts them first, then follows to the end, with a link', async () => {
    const filter = ['--organization', tenant.organizationId, '--kind', 'document.extract'];
    const dry = await ops(['replay', ...filter, '--dry-run']);
    expect(dry, dry.stderr).to.include({ code: 0, stderr: '' });
    expect(dry.stdout).to.equal('2 jobs would be retried.\n');
    const limited = await ops(['replay', ...filter, '--limit', '2', '--dry-run']);
    expect(limited.stdout).to.equal('2 jobs would be retried. The limit of 2 is reached: there may be more.\n');
    const { code, body } = await answerOf([
      'replay',
      ...filter,
      '--per-minute',
      '6000',
      '--limit',
      '1',
      '--requested-by',
      'sre',
      '--follow',
    ]);
    expect(code).to.equal(0);
    expect(body.progress).to.include({ matched: 1, retried: 1 });
    expect(body.limitReached).to.equal(true);
    expect(body.url).to.include(`/workflows/${body.workflowId}`);
    const retried = await api.database.db.selectFrom('job').select('retry_of').where('retry_of', 'is not', null).execute();
    expect(retried).to.deep.equal([{ retry_of: failed[0] }]);
    const none = await answerOf(['replay', '--error', 'no_such_code', '--from', '2026-01-01', '--to', '2100-01-01', '--follow']);
    expect(none.body.progress).to.include({ matched: 0, retried: 0 });
    expect(none.body.limitReached).to.equal(false);
  });

  it('replays nothing that was not asked for, as if npm took the flags for itself', async () => {
    const replays = async () => {
      const query = `WorkflowType = 'replayFailedJobs'`;
      return (await api.temporal.client.workflow.count(query)).count;
    };
    const before = await replays();
    for (const [args, env, said] of [
      [['replay'], {}, 'put `--` before the flags'],
      [['replay', '--dry-run'], {}, 'at least one filter, or --all'],
      [['replay', '--limit', '5', '--per-minute', '1', '--requested-by', 'sre'], {}, 'at least one filter, or --all'],
      [['replay', '--all', '--kind', 'text.embed'], {}, 'exclude each other'],
      // `npm run ops replay --dry-run -- --kind text.embed`
      [['replay', '--kind', 'text.embed'], { npm_config_dry_run: 'true' }, 'npm took --dry-run for itself'],
      // `npm run ops replay --limit 5 -- --all`
      [['replay', '--all'], { npm_config_limit: '5' }, 'npm took --limit for itself'],
    ] as [string[], Environment, string][]) {
      const { code, stdout, stderr } = await ops(args, env);
      expect([code, stdout], args.join(' ')).to.deep.equal([2, '']);
      expect(stderr).to.include(said);
    }
    expect(await replays()).to.equal(before);
    const dry = await ops(['replay', '--all', '--limit', '1', '--dry-run'], { npm_config_dry_run: 'true' });
    expect([dry.code, dry.stdout.split('\n')[0]], dry.stderr).to.deep.equal([
      0,
      '1 job would be retried. The limit of 1 is reached: there may be more.',
    ]);
  });

  it('migrates a new database, and leaves a current one as it is', async () => {
    const url = new URL(api.database.url);
    const name = `migrate_${Date.now()}`;
    await sql`create database ${sql.ref(name)}`.execute(api.database.db);
    url.pathname = `/${name}`;
    const env = { DATABASE_URL: url.href };
    try {
      const first = await ops(['migrate', '--json'], env);
      expect(first, first.stderr).to.include({ code: 0, stderr: '' });
      const { applied, inDatabase, unknown } = JSON.parse(first.stdout);
      expect([applied.length, unknown]).to.deep.equal([inDatabase, 0]);
      expect(applied).to.deep.equal(Object.keys(migrations));
      const again = await ops(['migrate'], env);
      expect(again).to.deep.equal({ code: 0, stdout: `0 migrations were applied, ${inDatabase} in the database.\n`, stderr: '' });
    } finally {
      await sql`drop database ${sql.ref(name)} with (force)`.execute(api.database.db);
    }
  });

  it('says that a migration waits for another process', async () => {
    const database = await createEmptyDatabase();
    try {
      const waiting = await database.db.connection().execute(async (other) => {
        await sql`select pg_advisory_lock(${advisoryLocks.migrations})`.execute(other);
        const program = startOps(['migrate'], { DATABASE_URL: database.url });
        await program.printed(/^Another process applies migrations.*\n$/);
        await sql`select pg_advisory_unlock(${advisoryLocks.migrations})`.execute(other);
        return program;
      });
      expect((await waiting.exited).code).to.equal(0);
    } finally {
      await database.drop();
    }
  });

  it('explains a command that is asked for --help, and does nothing else, whatever else is given', async () => {
    for (const args of [
      ['status', '--help'],
      ['backup', 'there', '-h'],
      ['plan', '--end', '--help', '--unheard-of'],
      ['grant-admin', '--help'],
    ]) {
      const { code, stdout, stderr } = await ops(args, { DATABASE_URL: 'no address' });
      expect([code, stderr], args.join(' ')).to.deep.equal([0, '']);
      expect(stdout).to.match(new RegExp(`^Usage: npm run ops -- ${args[0]} .*\\n\\n[A-Z].*\\.\\n$`));
    }
  });

  it('explains flags that it does not understand, before it does anything', async () => {
    const wrong = [
      ['status', '--verbose'],
      ['migrate', '--down'],
      ['restore', '/nowhere', '--check', '--rehearse'],
      ['plan', '--organization', 'nope', '--plan', 'team', '--end'],
      ['replay', '--kind', 'document.read'],
      ...['yesterday', '8', '11/21', '2026-02-30', '0000-01-01', '0001-01-01T00:00:00+14:00', '2026-11-21T08:00:00', ''].map((from) => [
        'replay',
        '--from',
        from,
      ]),
    ];
    for (const args of wrong) {
      const { code, stdout, stderr } = await ops(args);
      expect([code, stdout], args.join(' ')).to.deep.equal([2, '']);
      expect(stderr).to.include(`Usage: npm run ops -- ${args[0]}`);
    }
  });

  nightly('says in a sentence what cannot be reached, and shows what the other one knows', async () => {
    for (const command of ['status', 'stuck']) {
      const { code, stdout, stderr } = await ops([command], { DATABASE_URL: `postgres://x:secret@${await freeAddress()}/x` });
      expect([code, stdout], command).to.deep.equal([1, '']);
      expect(stderr)
        .to.match(/^The database cannot be reached: .*ECONNREFUSED/)
        .and.not.include('secret');
    }
    const away = { TEMPORAL_ADDRESS: await freeAddress() };
    const sentence = `Temporal cannot be reached at ${away.TEMPORAL_ADDRESS}. Does it run?\n`;
    const status = await ops(['status'], away);
    expect(status).to.deep.include({ code: 1, stderr: sentence });
    expect(status.stdout).to.include('Intents that Temporal has not taken: 0');
    expect(await ops(['replay', '--all'], away)).to.deep.equal({ code: 1, stdout: '', stderr: sentence });
  });

  it('says in a sentence that the store cannot be reached', async () => {
    const key = { STORAGE_ACCESS_KEY_ID: 'key', STORAGE_SECRET_ACCESS_KEY: 'secret' };
    const store = { STORAGE_DRIVER: 's3', STORAGE_BUCKET: 'documents', STORAGE_API_ENDPOINT: `http://${await freeAddress()}` };
    const { code, stderr } = await ops(['backup', join(api.stack.dataDir, 'away')], { ...store, ...key });
    expect(code).to.equal(1);
    expect(stderr).to.match(/^The store of documents cannot be reached: .*ECONNREFUSED.*\n$/);
  });

  nightly('asks Temporal about several jobs, and says in a sentence that it cannot be reached', async () => {
    const job = { organization_id: tenant.organizationId, credits: 1, credit_month: '2026-11-01', max_attempts: 4, input: '{}' };
    const long = { created_at: new Date(Date.now() - 600_000), next_attempt_at: new Date(Date.now() - 600_000) };
    const ids = ['unasked-1', 'unasked-2', 'unasked-3'];
    const away = { TEMPORAL_ADDRESS: await freeAddress() };
    await withoutSweeps(api, async () => {
      await api.database.db
        .insertInto('job')
        .values(ids.map((id) => ({ ...job, ...long, id, kind: 'text.embed' as const })))
        .execute();
      const program = startOps(['stuck'], environment(away));
      expect(await program.exited).to.deep.equal({ code: 1, signal: null });
      expect(program.stderr()).to.equal(`Temporal cannot be reached at ${away.TEMPORAL_ADDRESS}. Does it run?\n`);
      await api.database.db.deleteFrom('job').where('id', 'in', ids).execute();
    });
  });

  it('says in a sentence what Postgres refuses', async () => {
    const databaseAs = (change: (url: URL) => void) => {
      const url = new URL(api.database.url);
      change(url);
      return { DATABASE_URL: url.href };
    };
    const role = `nobody_${Date.now()}`;
    await sql`create role ${sql.ref(role)} login password 'nobody'`.execute(api.database.db);
    const empty = databaseAs((url) => {
      url.pathname = '/postgres';
    });
    const asNobody = databaseAs((url) => {
      url.username = role;
      url.password = 'nobody';
    });
    const readOnly = databaseAs((url) => url.searchParams.set('options', '-c default_transaction_read_only=on'));
    const said: [string[], Environment, RegExp][] = [
      [['ledger'], empty, /^The database does not have the schema of this version: relation "job" does not exist[.] .*\n$/],
      [['ledger'], asNobody, /^Postgres refuses: permission denied for table job \(42501\)\n$/],
      [['grant-admin', 'a@example.com'], readOnly, /^Postgres refuses: cannot execute .* in a read-only transaction \(25006\)\n$/],
    ];
    try {
      for (const [args, env, sentence] of said) {
        const { code, stderr } = await ops(args, env);
        expect(stderr, args.join(' ')).to.match(sentence);
        expect(code).to.equal(1);
      }
      await sql`alter role ${sql.ref(role)} connection limit 0`.execute(api.database.db);
      expect((await ops(['ledger'], asNobody)).stderr).to.match(/^Postgres refuses: too many connections .* \(53300\)\n$/);
    } finally {
      await sql`drop role ${sql.ref(role)}`.execute(api.database.db);
    }
  });

  it('embeds documents anew that are behind, says how far it is, and charges nobody', async () => {
    const { token } = tenant.owner;
    const { db } = api.database;
    const { id: documentId } = await api.upload(tenant, { bytes: 'The mirror is washed on Mondays.' });
    const { body } = await api.request('POST', '/api/v1/jobs', { token, body: { kind: 'document.index', documentId } });
    await api.jobIn(token, body.id, ['succeeded']);
    await db.updateTable('document_index').set({ chunking: '0' }).where('document_id', '=', documentId).execute();
    const charges = () => db.selectFrom('credit_entry').select('id').execute();
    const before = await charges();

    const { code, stderr } = await ops(['reindex']);
    expect({ code, stderr: stderr.split('\n')[0] }).to.deep.equal({
      code: 2,
      stderr: 'Name what to embed: --all, --organization ID|SLUG or --workspace ID.',
    });
    const dry = await answerOf(['reindex', '--all', '--dry-run']);
    expect(dry.body.progress).to.deep.include({
      behind: 1,
      embedded: 0,
      target: { model: 'local-hash-256', dimensions: 256, chunking: chunkingOf(chunkSize) },
    });
    const told = await ops(['reindex', '--workspace', tenant.workspaceId, '--requested-by', 'ada', '--follow']);
    expect(told.stdout).to.match(
      /^Documents are embedded anew: http:\S+\/workflows\/reindex\n[\s\S]*1 of 1 document embedded by local-hash-256, 256 dimensions, 1 switched\n$/,
    );
    expect((await answerOf(['reindex', '--all', '--dry-run'])).body.progress).to.include({ behind: 0 });
    expect(await charges()).to.deep.equal(before);
  });
});
