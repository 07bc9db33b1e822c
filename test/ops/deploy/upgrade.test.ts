import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { inheritedEnvironment } from '../../../base/config/local.ts';
import { makeTestDirectory, removeTestDirectory } from '../../support/directories.ts';
import { runProgram } from '../../support/processes.ts';

/**
 * A `docker` that notes what it is asked, and fails at what FAILS is in. It knows two APIs and one of everything else, new ones once they
 * were asked for, none of ABSENT, and one of ENDED that has ended. Steps end with CODE; RESTARTS is how often the new worker has started again.
 * Somebody runs a command in one more container of each, and ends the session of the script at what INTERRUPTED is in.
 */
const docker = `#!/bin/sh
echo "$*" >>"$NOTES"
case "$*" in *"$INTERRUPTED"*) kill -HUP $PPID; exit 1 ;; esac
case "$*" in *"$FAILS"*) exit 1 ;; esac
case "$*" in
  'wait '*) echo "$CODE" ;;
  'compose ps --all --quiet --status exited --status created '"$ENDED") echo "$ENDED-ended"; echo "$ENDED-run" ;;
  'compose ps --all --quiet --status '*) ;;
  'compose ps --quiet '"$ABSENT") ;;
  'compose ps --all --quiet api') printf 'api-run\\napi-a\\napi-b\\napi-c\\napi-d\\n' ;;
  'compose ps --all --quiet '*) echo "$5-run"; echo "$5-a"; case "$5" in ai|worker) echo "$5-b" ;; esac ;;
  'compose ps --quiet api') printf 'api-a\\napi-b\\n' ;;
  'compose ps --quiet '*) echo "$4-a" ;;
  'inspect '*oneoff*-run) echo True ;;
  'inspect '*oneoff*) echo False ;;
  'inspect '*worker-b) echo "true $RESTARTS" ;;
  'inspect '*) echo 'true 0' ;;
  'compose config --services') printf 'secrets\\npostgres\\ndatabases\\ntemporal-schema\\ntemporal\\ntemporal-namespace\\nmigrate\\nai\\napi\\nedge\\nedge-tls\\nstore-bucket\\nstore\\nworker\\n' ;;
esac
`;

describe('ops/deploy/upgrade.sh', () => {
  let directory: string;
  before(() => {
    directory = makeTestDirectory();
    mkdirSync(directory, { recursive: true });
    for (const [name, text] of Object.entries({ docker, sleep: '#!/bin/sh\necho "sleep $*" >>"$NOTES"\n' })) {
      writeFileSync(join(directory, name), text);
      chmodSync(join(directory, name), 0o755);
    }
  });
  after(() => removeTestDirectory(directory));

  const usual = { fails: 'nothing', interrupted: 'nothing', code: '0', absent: 'nothing', ended: 'nothing', restarts: '0' };

  async function upgrade(unusual: Partial<typeof usual>) {
    const { fails, interrupted, code, absent, ended, restarts } = { ...usual, ...unusual };
    const notes = join(directory, 'notes');
    writeFileSync(notes, '');
    const world = { FAILS: fails, INTERRUPTED: interrupted, CODE: code, ABSENT: absent, ENDED: ended, RESTARTS: restarts };
    const env = { PATH: `${directory}:${inheritedEnvironment().PATH}`, NOTES: notes, ...world };
    const { code: result } = await runProgram('sh', ['ops/deploy/upgrade.sh'], { env }).exited;
    const commands = readFileSync(notes, 'utf8').trim().split('\n');
    return { code: result, commands: commands.filter((command) => !/^(compose (ps|config)|inspect) /.test(command)) };
  }

  it('migrates, and stops a container only once its successor is healthy; what else has changed comes last', async () => {
    const { code, commands } = await upgrade({});
    expect(code).to.equal(0);
    expect(commands).to.deep.equal([
      'compose build',
      'compose up --detach --no-deps --force-recreate databases',
      'wait databases-a',
      'compose up --detach --no-deps --force-recreate temporal-schema',
      'wait temporal-schema-a',
      'compose up --detach --no-deps --force-recreate migrate',
      'wait migrate-a',
      'compose up --detach --no-deps --no-recreate --wait --scale ai=2 ai',
      'stop ai-a',
      'rm ai-a',
      'compose up --detach --no-deps --no-recreate --wait --scale api=4 api',
      'sleep 12',
      'stop api-a api-b',
      'rm api-a api-b',
      'compose up --detach --no-deps --no-recreate --wait --scale worker=2 worker',
      'sleep 12',
      'stop worker-a',
      'rm worker-a',
      'compose up --detach --no-deps --wait postgres temporal edge edge-tls store',
    ]);
  });

  for (const fails of ['compose build', '--force-recreate migrate'])
    it(`stops no API if this fails: ${fails}`, async () => {
      const { code, commands } = await upgrade({ fails });
      expect(code).to.equal(1);
      expect(commands.at(-1)).to.include(fails);
      expect(commands.join('\n')).not.to.match(/stop api/);
    });

  const removed = ['c', 'd'].flatMap((api) => [`logs --tail 50 api-${api}`, `rm --force api-${api}`]);

  it('removes the new containers of a service if they do not become healthy, and lets the old ones go on', async () => {
    const { code, commands } = await upgrade({ fails: '--scale api=4' });
    expect(code).to.equal(1);
    expect(commands.slice(-4)).to.deep.equal(removed);
    expect(commands.join('\n')).not.to.match(/stop (api|worker)/);
  });

  it('does the same if a new container starts again and again', async () => {
    const { code, commands } = await upgrade({ restarts: '2' });
    expect(code).to.equal(1);
    expect(commands.slice(-2)).to.deep.equal(['logs --tail 50 worker-b', 'rm --force worker-b']);
    expect(commands.join('\n')).not.to.match(/stop worker/);
  });

  it('removes them, too, if its session ends before they are healthy: the next run would take them for old ones', async () => {
    const { code, commands } = await upgrade({ interrupted: '--scale api=4' });
    expect(code).to.equal(1);
    expect(commands.slice(-4)).to.deep.equal(removed);
  });

  it('removes all old ones if its session ends while they stop', async () => {
    const { code, commands } = await upgrade({ interrupted: 'stop api-a' });
    expect(code).to.equal(1);
    expect(commands.slice(-3)).to.deep.equal(['stop api-a api-b', 'stop api-a api-b', 'rm api-a api-b']);
  });

  it('leaves out a service that does not run here, and removes containers that have ended first', async () => {
    const { code, commands } = await upgrade({ absent: 'ai', ended: 'api' });
    expect(code).to.equal(0);
    expect(commands.join('\n')).not.to.match(/ ai=|stop ai/);
    const [removed, started] = ['rm api-ended', 'compose up --detach --no-deps --no-recreate --wait --scale api=4 api'].map((command) =>
      commands.indexOf(command),
    );
    expect(removed).to.be.within(0, (started ?? 0) - 1);
    expect(commands, 'of a command that somebody ran').not.to.include('rm api-run');
  });

  it('goes no further than a step that ended with an error, and shows what it said', async () => {
    const { code, commands } = await upgrade({ code: '3' });
    expect(code).to.equal(1);
    expect(commands.slice(-2)).to.deep.equal(['wait databases-a', 'compose logs databases']);
  });
});
