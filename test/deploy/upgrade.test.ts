import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { inheritedEnvironment } from '../../config/local.ts';
import { makeTestDirectory, removeTestDirectory } from '../support/directories.ts';
import { runProgram } from '../support/processes.ts';

/** A `docker` that notes what it is asked, knows two APIs and one of everything else, and fails at what FAILS is in; steps end with CODE. */
const docker = `#!/bin/sh
echo "$*" >>"$NOTES"
case "$*" in *"$FAILS"*) exit 1 ;; esac
case "$*" in
  'wait '*) echo "$CODE" ;;
  'compose ps --all --quiet '*) echo "$5-a" ;;
  'compose ps --quiet api') printf 'api-a\\napi-b\\n' ;;
  'compose ps --quiet '*) echo "$4-a" ;;
  'compose config --services') printf 'postgres\\ndatabases\\nmigrate\\nai\\napi\\nedge\\nedge-tls\\nstore-bucket\\nstore\\nworker\\n' ;;
esac
`;

describe('deploy/upgrade.sh', () => {
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

  async function upgrade({ fails = 'nothing', code = '0' }): Promise<{ code: number | null; commands: string[] }> {
    const notes = join(directory, 'notes');
    writeFileSync(notes, '');
    const env = { PATH: `${directory}:${inheritedEnvironment().PATH}`, NOTES: notes, FAILS: fails, CODE: code };
    const { code: ended } = await runProgram('sh', ['deploy/upgrade.sh'], { env }).exited;
    return { code: ended, commands: readFileSync(notes, 'utf8').trim().split('\n') };
  }

  it('migrates, and stops a container only once its successor is healthy; what else has changed comes last', async () => {
    const { code, commands } = await upgrade({});
    expect(code).to.equal(0);
    expect(commands.filter((command) => !/^compose (ps|config)/.test(command))).to.deep.equal([
      'compose build',
      'compose up --detach --no-deps --force-recreate databases',
      'wait databases-a',
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
      'stop worker-a',
      'rm worker-a',
      'compose up --detach --no-deps postgres edge edge-tls store',
    ]);
  });

  for (const fails of ['compose build', '--force-recreate migrate', '--scale api=4'])
    it(`stops no API if this fails: ${fails}`, async () => {
      const { code, commands } = await upgrade({ fails });
      expect(code).to.equal(1);
      expect(commands.at(-1)).to.include(fails);
      expect(commands.join('\n')).not.to.match(/stop api/);
    });

  it('goes no further than a step that ended with an error, and shows what it said', async () => {
    const { code, commands } = await upgrade({ code: '3' });
    expect(code).to.equal(1);
    expect(commands.slice(-2)).to.deep.equal(['wait databases-a', 'compose logs databases']);
  });
});
