import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import type { Environment } from '../../base/config/environment.ts';
import { createClient } from '../../clients/typescript/index.ts';
import { claimDataDir, findHolder } from '../../ops/local/data-directory.ts';
import { startLonePostgres } from '../../ops/local/lone-postgres.ts';
import { findFreePorts } from '../../ops/local/ports.ts';
import { findEmbeddedPostgres } from '../../ops/local/postgres-directory.ts';
import { makeTestDirectory, removeTestDirectory } from '../support/directories.ts';
import { nightly, nightlySuite } from '../support/nightly.ts';
import { opsResult, runOps, startOps } from '../support/ops.ts';
import { endPrograms, findProcesses, type Program, runProgram, until } from '../support/processes.ts';

const variables = ['PORT', 'EMBEDDED_PG_PORT', 'EMBEDDED_TEMPORAL_PORT', 'AI_PORT'];
const person = { email: 'ada@example.com', password: 'a long password' };

nightlySuite('A backup of `npm start`', function () {
  // Two services start and stop in one hook.
  this.timeout(300_000);
  const root = makeTestDirectory();
  const oldDir = join(root, 'before');
  const newDir = join(root, 'after');
  const backup = join(root, 'backups/2026-11-22');
  let ports: Environment;
  let workspaceId: string;

  before('starts a service, which indexes a document, and follows the documentation to another directory', async () => {
    const free = await findFreePorts(variables.length);
    ports = Object.fromEntries(variables.map((name, index) => [name, String(free[index])]));
    const [backUp = '', keepSecrets = '', restore = '', putSecrets = '', start = '', ...more] = documentedWay();
    expect(more).to.deep.equal([]);
    const first = await startService(oldDir);
    workspaceId = await indexDocument();
    await runLine(backUp);
    await stopService(first);
    for (const line of [keepSecrets, restore, putSecrets]) await runLine(line);
    expect(start).to.equal(`DATA_DIR=${newDir} npm start`);
    await nothingRunsIn(root);
    await startService(newDir);
  });
  after(async () => {
    endPrograms();
    await nothingRunsIn(root);
    removeTestDirectory(root);
  });

  /** The commands of docs/operations.md, with the directories of this test. */
  function documentedWay(): string[] {
    const [, block = ''] =
      /^```\n(npm run ops -- backup .*\n(?:.+\n)*DATA_DIR=\S+ npm start)\n```$/m.exec(readFileSync('docs/operations.md', 'utf8')) ?? [];
    const placed = block
      .replaceAll('/srv/backups', join(root, 'backups'))
      .replaceAll('/srv/sheaf-data', newDir)
      .replaceAll('.data/', `${oldDir}/`);
    return placed.split('\n').map((line) => line.replace(/ *#.*/, ''));
  }
  async function runLine(line: string): Promise<void> {
    const program = runProgram('sh', ['-eu', '-c', line], { env: { DATABASE_URL: '', DATA_DIR: oldDir } });
    expect((await program.exited).code, `${line}\n${program.stdout()}${program.stderr()}`).to.equal(0);
  }
  async function startService(dataDir: string): Promise<Program> {
    const program = runProgram(process.execPath, ['ops/local/start.ts'], { env: { ...ports, DATABASE_URL: '', DATA_DIR: dataDir } });
    await program.printed(/is running\.[\s\S]*Ctrl-C\./);
    return program;
  }
  async function stopService(program: Program): Promise<void> {
    program.child.kill('SIGTERM');
    expect((await program.exited).code).to.equal(0);
  }
  /** What a program has left to its guard may end a moment after it. */
  const nothingRunsIn = (directory: string) => until(() => findProcesses(directory).length === 0);
  const connect = () => createClient({ url: `http://localhost:${ports.PORT}` });
  async function indexDocument(): Promise<string> {
    const client = connect();
    await client.auth.signUp({ name: 'Ada', ...person });
    const organization = await client.auth.createOrganization({ name: 'Ada', slug: 'ada' });
    const workspace = await client.workspaces.create({ organizationId: organization.id, name: 'Notes', slug: 'notes' });
    const file = new Blob(['The mites are counted on a white board under the hive.']);
    const document = await client.uploadDocument({ workspaceId: workspace.id, name: 'bees.txt', contentType: 'text/plain', file });
    const { id } = await client.jobs.create({ kind: 'document.index', documentId: document.id });
    const job = await client.waitForJob(id, { signal: AbortSignal.timeout(60_000) });
    expect(job.status).to.equal('succeeded');
    return workspace.id;
  }
  const atRest = (dataDir: string): Environment => ({ DATA_DIR: dataDir });

  it('is restored for another `npm start`: who signed up signs in, and a search finds the document', async () => {
    const client = connect();
    await client.auth.signIn(person);
    const { results } = await client.documents.search({ workspaceId, query: 'how are mites counted?' });
    expect(results.map(({ documentName }) => documentName)).to.deep.equal(['bees.txt']);
  });

  it('is refused where the service runs', async () => {
    const { code, stderr } = await runOps(['restore', backup, '--replace'], atRest(newDir));
    expect(code).to.equal(1);
    expect(stderr).to.match(/The service runs \(.*\)\. Stop it first/);
  });

  it('can be made while nothing runs, too, and put back where it is from', async () => {
    const stopped = join(root, 'backups/stopped');
    const made = await opsResult(['backup', stopped], atRest(oldDir));
    expect(made.objects).to.include({ count: 1, lost: 0 });
    const restored = await opsResult(['restore', stopped, '--replace'], atRest(oldDir));
    expect(restored.objects).to.include({ count: 1, kept: 1 });
    await nothingRunsIn(oldDir);
  });

  it('is verified without a database', async () => {
    const nowhere = join(root, 'nowhere');
    expect(await opsResult(['restore', backup, '--check'], atRest(nowhere))).to.include({ sound: true });
    expect(existsSync(nowhere)).to.equal(false);
  });

  nightly('can be restored again after a restore that was killed', async () => {
    const env = atRest(join(root, 'killed'));
    const killed = startOps(['restore', backup], { DATABASE_URL: '', ...env });
    await until(() => findEmbeddedPostgres(env.DATA_DIR ?? '') !== undefined);
    killed.child.kill('SIGKILL');
    await killed.exited;
    expect((await opsResult(['restore', backup], env)).objects).to.include({ count: 1 });
  });

  it('is not made of a directory that no service has used, and nothing is made there', async () => {
    const empty = makeTestDirectory();
    try {
      const { code, stderr } = await runOps(['backup', join(root, 'backups/none')], atRest(empty));
      expect([code, stderr]).to.deep.equal([
        1,
        `No database: nothing runs in ${empty}. Start it with \`npm start\`, or set DATABASE_URL.\n`,
      ]);
      expect(readdirSync(empty)).to.deep.equal([]);
    } finally {
      removeTestDirectory(empty);
    }
  });

  it('holds the directory meanwhile, so that no service starts there', async () => {
    const dataDir = join(root, 'held');
    const postgres = await startLonePostgres(dataDir, () => {});
    try {
      expect(findHolder(dataDir)).to.include({ pid: process.pid });
      const refusal = await claimDataDir(dataDir).catch((error: Error) => error.message);
      expect(refusal).to.match(/already runs on/);
    } finally {
      await postgres.stop();
    }
    expect(findHolder(dataDir)).to.equal(undefined);
  });
});
