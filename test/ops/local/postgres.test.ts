import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  copyFileSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { findFreePorts } from '../../../ops/local/ports.ts';
import { startPostgres } from '../../../ops/local/postgres.ts';
import { createSupervisor, type Supervisor } from '../../../ops/local/supervise.ts';
import { findTemporalCli, temporalVersion } from '../../../ops/local/temporal-cli.ts';
import { makeTestDirectory, removeTestDirectory } from '../../support/directories.ts';
import { nightly } from '../../support/nightly.ts';
import { endPrograms, isAlive, runProgram, until } from '../../support/processes.ts';

const isRoot = process.getuid?.() === 0;
const nobody = 65_534;

describe('the embedded Postgres', () => {
  let dataDir: string;
  let supervisor: Supervisor;
  const cluster = () => join(dataDir, 'postgres', 'cluster');
  const start = async (below = dataDir) => {
    const [port = 0] = await findFreePorts(1);
    return await startPostgres(supervisor, { dataDir: below, port, durable: false, logFile: join(below, 'logs', 'postgres.log') });
  };

  beforeEach(() => {
    dataDir = makeTestDirectory();
    supervisor = createSupervisor();
  });

  afterEach(async () => {
    endPrograms();
    await supervisor.close();
    removeTestDirectory(dataDir);
  });

  nightly('starts after a kill whose process id belongs to another program by now', async () => {
    const { running } = await start();
    await running.kill('SIGKILL');
    const pidFile = join(cluster(), 'postmaster.pid');
    const rest = readFileSync(pidFile, 'utf8').split('\n').slice(1);
    // Another program of the same user, which Postgres alone would take for its own server.
    const other = await bystander(statSync(cluster()));
    writeFileSync(pidFile, [other.pid, ...rest].join('\n'));
    await start();
    expect(isAlive(other.pid)).to.equal(true);
  });

  it('takes the place of a server that an earlier run left behind', async () => {
    const { running: left } = await start();
    const { running } = await start();
    expect(isAlive(left.pid)).to.equal(false);
    expect(isAlive(running.pid)).to.equal(true);
  });

  nightly('makes the cluster anew when the first start was interrupted', async () => {
    const { running } = await start();
    await running.stop();
    rmSync(cluster(), { recursive: true });
    mkdirSync(`${cluster()}.new`);
    writeFileSync(`${cluster()}.new/PG_VERSION`, '18\n');
    await start();
    expect(existsSync(`${cluster()}.new`)).to.equal(false);
  });

  it('refuses a cluster of another major version by name', async () => {
    mkdirSync(cluster(), { recursive: true });
    writeFileSync(join(cluster(), 'PG_VERSION'), '17\n');
    if (isRoot) await chownToNobody(join(dataDir, 'postgres'));
    const failure = await start().catch((error: Error) => error);
    expect(failure)
      .to.have.property('message')
      .that.matches(/made by Postgres 17, this is Postgres 18/);
  });

  it('orders texts by code point, whatever locales the machine has', async () => {
    const { url } = await start();
    const { default: pg } = await import('pg');
    const client = new pg.Client({ connectionString: url });
    await client.connect();
    const { rows } = await client.query(
      "select string_agg(t, '' order by t) as sorted, upper('äß') as upper from unnest(array['b','B','ä','a']) t",
    );
    await client.end();
    expect(rows).to.deep.equal([{ sorted: 'Babä', upper: 'Äß' }]);
  });

  if (isRoot) {
    nightly('runs as a user that is not root, also where only root may enter', async () => {
      const closed = join(dataDir, 'closed');
      mkdirSync(closed, { mode: 0o700 });
      const below = join(closed, 'data');
      mkdirSync(below);
      const { running } = await start(below);
      expect(ownerOf(running.pid)).to.be.greaterThan(0);
      expect(lstatSync(join(below, 'postgres')).isSymbolicLink()).to.equal(true);
      const place = realpathSync(join(below, 'postgres'));
      expect(statSync(place).mode & 0o777).to.equal(0o700);
      await running.stop();
      const again = await start(below);
      expect(realpathSync(join(below, 'postgres'))).to.equal(place);
      await again.running.stop();
      rmSync(place, { recursive: true });
    });
  }

  // Another user can run the project only from where that user can enter.
  if (isRoot && nobodyReaches(process.execPath)) {
    nightly('runs with Temporal as a user that is not root', async () => {
      const cached = join(dataDir, 'cache', 'sheaf', 'temporal', temporalVersion);
      mkdirSync(cached, { recursive: true });
      copyFileSync(
        await findTemporalCli({ supervisor, logFile: join(dataDir, 'fetch.log'), note: () => undefined }),
        join(cached, 'temporal'),
      );
      chmodSync(join(cached, 'temporal'), 0o755);
      await chownToNobody(dataDir);
      const env = { HOME: dataDir, XDG_CACHE_HOME: join(dataDir, 'cache') };
      const holder = runProgram(process.execPath, ['test/ops/local/hold-stack.ts', dataDir], { env, uid: nobody, gid: nobody });
      const [line] = await holder.printed(/^\{.*\}$/m);
      const { pids } = JSON.parse(line) as { pids: number[] };
      expect(pids.map(ownerOf)).to.deep.equal([nobody, nobody, nobody]);
      process.kill(holder.pid, 'SIGKILL');
      await until(() => !pids.some(isAlive));
    });
  }
});

function nobodyReaches(program: string): boolean {
  return spawnSync(program, ['--version'], { cwd: '/', uid: nobody, gid: nobody }).status === 0;
}

function ownerOf(pid: number): number {
  return statSync(`/proc/${pid}`).uid;
}

async function chownToNobody(path: string): Promise<void> {
  await runProgram('chown', ['-R', `${nobody}:${nobody}`, path]).exited;
}

async function bystander({ uid, gid }: { uid: number; gid: number }) {
  const program = runProgram('sleep', ['60'], { uid, gid });
  await until(() => isAlive(program.pid));
  return program;
}
