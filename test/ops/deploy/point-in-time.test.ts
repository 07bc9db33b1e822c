import { chownSync, cpSync, realpathSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { expect } from 'chai';
import { inheritedEnvironment } from '../../../base/config/local.ts';
import { makeTestDirectory, removeTestDirectory } from '../../support/directories.ts';
import { findInstalled } from '../../support/installed.ts';
import { runProgram } from '../../support/processes.ts';

const initdb = findInstalled('initdb');

/** As the profile `wal` of docker-compose.yml does it, with a table whose rows say where in its history the database is. */
const prepared = `
mkdir "$WAL_DIR"
initdb --pgdata="$PGDATA" --auth=trust --username=postgres >/dev/null
start() { pg_ctl --pgdata="$PGDATA" --silent --wait --log=postgres.log --options="-c listen_addresses='' -c unix_socket_directories=$PGHOST" start; }
stop() { pg_ctl --pgdata="$PGDATA" --silent --wait --mode=fast stop; }
ask() { psql --username=postgres --quiet --tuples-only --no-align --command "$1"; }
keep() {
  : >keep.log
  PAUSE=0.2 sh point-in-time.sh keep >keep.log 2>&1 & keeper=$!
  for try in $(seq 300); do if grep --quiet '^base backup' keep.log; then return; fi; sleep 0.1; done
  cat keep.log >&2; exit 9
}
# Postgres stops once all of its log is received.
end_keep() { stop; kill "$keeper" || true; wait "$keeper" || true; }
# The names of base backups and stretches have whole seconds.
now() { sleep 1.1; ask 'select now()'; sleep 1.1; }
start
ask 'create table step (number int)'
keep
`;

describe('ops/deploy/point-in-time.sh', function () {
  this.timeout(60_000);

  if (!initdb)
    return void process.stderr.write('initdb is not on PATH, so point-in-time.sh is not tried: the Debian package postgresql has it.\n');
  const bin = dirname(realpathSync(initdb));
  let directory: string;

  beforeEach(() => {
    directory = makeTestDirectory();
    cpSync('ops/deploy/point-in-time.sh', join(directory, 'point-in-time.sh'));
  });
  afterEach(() => removeTestDirectory(directory));

  /** Postgres refuses to run as root. */
  async function run(steps: string): Promise<{ code: number | null; stdout: string; stderr: string }> {
    const user = process.getuid?.() === 0 ? { uid: 65534, gid: 65534 } : {};
    if (user.uid) chownSync(directory, user.uid, user.gid);
    const PATH = [bin, inheritedEnvironment().PATH].join(delimiter);
    const env = { PATH, PGHOST: directory, PGDATA: join(directory, 'data'), WAL_DIR: join(directory, 'wal'), LC_ALL: 'C' };
    const program = runProgram('sh', ['-eu', '-c', prepared + steps], { env, cwd: directory, ...user });
    const { code } = await program.exited;
    return { code, stdout: program.stdout(), stderr: program.stderr() };
  }

  it('goes back to a time, then to a later one of the same history', async () => {
    const { code, stdout, stderr } = await run(`
      ask 'insert into step values (1)'; first=$(now)
      ask 'insert into step values (2)'; second=$(now)
      ask 'delete from step'
      end_keep
      sh point-in-time.sh restore "$first"; start
      ask "select 'first', array_agg(number) from step"
      keep
      ask 'insert into step values (3)'
      end_keep
      sh point-in-time.sh restore "$second"; start
      ask "select 'second', array_agg(number) from step"; stop
      sh point-in-time.sh restore; start
      ask "select 'latest', array_agg(number) from step"; stop
    `);
    expect(code, stdout + stderr).to.equal(0);
    expect(stdout.split('\n').filter((line) => line.includes('|'))).to.deep.equal(['first|{1}', 'second|{1,2}', 'latest|{1,3}']);
  });

  it('says that the log does not reach a time', async () => {
    const { code, stdout, stderr } = await run(`
      ask 'insert into step values (1)'
      end_keep
      sh point-in-time.sh restore '2099-01-01 00:00:00+00'
    `);
    expect(code, stdout + stderr).to.equal(1);
    expect(stderr).to.match(/FATAL: +recovery ended before configured recovery target was reached\n.*restore again/);
  });
});
