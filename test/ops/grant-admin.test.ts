import { expect } from 'chai';
import type { Environment } from '../../base/config/environment.ts';
import { findFreePorts } from '../../ops/local/ports.ts';
import { findEmbeddedPostgres } from '../../ops/local/postgres-directory.ts';
import { startStack } from '../../ops/local/stack.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { makeTestDirectory, removeTestDirectory } from '../support/directories.ts';
import { runOps } from '../support/ops.ts';

describe('npm run ops', () => {
  let database: TestDatabase;
  let directory: string;

  before(async () => {
    directory = makeTestDirectory();
    database = await createTestDatabase({ poolSize: 2 });
    const people = ['ada', 'bob'].map((id) => ({ id, name: id, email: `${id}@example.com`, emailVerified: true }));
    await database.db.insertInto('user').values(people).execute();
  });
  after(async () => {
    await database.drop();
    removeTestDirectory(directory);
  });

  const ops = (args: string[], env: Environment = { DATABASE_URL: database.url }) => runOps(args, { DATA_DIR: directory, ...env });
  const roleOf = async (id: string) =>
    (await database.db.selectFrom('user').select('role').where('id', '=', id).executeTakeFirstOrThrow()).role;

  it('makes a user a platform admin, and says when nothing was to do', async () => {
    const granted = await ops(['grant-admin', 'Ada@Example.com']);
    expect(granted).to.deep.equal({ code: 0, stdout: 'Ada@Example.com is a platform admin now.\n', stderr: '' });
    expect([await roleOf('ada'), await roleOf('bob')]).to.deep.equal(['admin', null]);
    const again = await ops(['grant-admin', 'ada@example.com']);
    expect(again).to.deep.equal({ code: 0, stdout: 'ada@example.com was a platform admin already.\n', stderr: '' });
    const entries = await database.db.selectFrom('audit_entry').selectAll().where('target_id', '=', 'ada').execute();
    expect(entries).to.have.length(1);
    const metadata = { to: 'admin', from: null, by: 'operator' };
    expect(entries[0]).to.deep.include({ organization_id: null, action: 'user.role', target_type: 'user', actor_id: null, metadata });
  });

  it('turns the second factor of a user off, and says when there was none', async () => {
    const { db } = database;
    await db.updateTable('user').set({ twoFactorEnabled: true }).where('id', '=', 'bob').execute();
    const factor = { id: 'f', userId: 'bob', secret: 's', backupCodes: 'b' };
    await db
      .insertInto('twoFactor')
      .values(factor as never)
      .execute();
    const disabled = await ops(['disable-two-factor', 'Bob@Example.com']);
    expect(disabled).to.deep.equal({ code: 0, stdout: 'Bob@Example.com needs no second factor any more.\n', stderr: '' });
    expect(await db.selectFrom('twoFactor').select('id').execute()).to.deep.equal([]);
    const again = await ops(['disable-two-factor', 'bob@example.com']);
    expect(again).to.deep.equal({ code: 0, stdout: 'bob@example.com had no second factor.\n', stderr: '' });
    const nobody = await ops(['disable-two-factor', 'nobody@example.com']);
    expect(nobody).to.deep.equal({ code: 1, stdout: '', stderr: 'Nobody has signed up as nobody@example.com.\n' });
    const entries = await db.selectFrom('audit_entry').selectAll().where('target_id', '=', 'bob').orderBy('id').execute();
    expect(entries.map(({ action, metadata }) => [action, metadata])).to.deep.equal([
      ['user.twoFactor', { enabled: true }],
      ['user.twoFactor', { enabled: false }],
    ]);
  });

  it('fails with a sentence when nobody has that address', async () => {
    const answer = await ops(['grant-admin', 'nobody@example.com']);
    expect(answer).to.deep.equal({ code: 1, stdout: '', stderr: 'Nobody has signed up as nobody@example.com.\n' });
  });

  it('explains itself when it is called wrongly', async () => {
    for (const args of [[], ['unknown'], ['toString']]) {
      const { code, stdout, stderr } = await ops(args);
      expect([code, stdout]).to.deep.equal([2, '']);
      expect(stderr)
        .to.match(/Usage: npm run ops -- COMMAND/)
        .and.match(args.length === 0 ? /^Which command\?/ : new RegExp(`^There is no command ${args[0]}\\.`))
        .and.match(/\bgrant-admin\b.*\n\n.*--help/);
      // Short enough that the problem stays on the screen.
      expect(stderr.trim().split('\n')).to.have.lengthOf.at.most(4);
    }
    for (const args of [['grant-admin'], ['grant-admin', 'a@example.com', 'b@example.com']]) {
      const { code, stderr } = await ops(args);
      expect(code).to.equal(2);
      expect(stderr).to.include('Usage: npm run ops -- grant-admin EMAIL');
    }
    const help = await ops(['help']);
    expect(help.code).to.equal(0);
    expect(help.stdout).to.include('grant-admin EMAIL');
  });

  it('does nothing without a flag that npm has kept for itself, whatever the command', async () => {
    const { stdout } = await runOps(['help'], {});
    const usages = [...stdout.matchAll(/^ {2}([a-z][a-z-]*)(.*)$/gm)];
    const flags = usages.flatMap(([, name = '', rest = '']) => [...rest.matchAll(/--([a-z-]+)/g)].map(([, flag = '']) => ({ name, flag })));
    expect(flags).to.deep.include.members([
      { name: 'restore', flag: 'check' },
      { name: 'mails', flag: 'send' },
      { name: 'replay', flag: 'per-minute' },
    ]);
    for (const { name, flag } of flags) {
      const { code, stderr } = await runOps([name], { [`npm_config_${flag.replaceAll('-', '_')}`]: 'true' });
      const said = stderr.split('\n')[0];
      expect([code, said], name).to.deep.equal([2, `npm took --${flag} for itself: put \`--\` before the flags.`]);
    }
  });

  it('fails with a sentence when there is no database to work on', async () => {
    const none = await ops(['grant-admin', 'ada@example.com'], {});
    expect(none.code).to.equal(1);
    expect(none.stderr).to.include(`nothing runs in ${directory}`).and.include('npm start');
    const [port] = await findFreePorts(1);
    const away = await ops(['grant-admin', 'ada@example.com'], { DATABASE_URL: `postgres://x:secret@127.0.0.1:${port}/x` });
    expect(away.code).to.equal(1);
    expect(away.stderr)
      .to.match(/^The database cannot be reached: .*ECONNREFUSED/)
      .and.not.include('secret');
  });

  it('finds the database that runs in a data directory, on whatever port, and none once it has stopped', async () => {
    const stack = await startStack({ dataDir: directory, services: ['postgres'], durable: false });
    try {
      expect(findEmbeddedPostgres(directory)).to.equal(stack.databaseUrl);
    } finally {
      await stack.stop();
    }
    expect(findEmbeddedPostgres(directory)).to.equal(undefined);
  });
});
