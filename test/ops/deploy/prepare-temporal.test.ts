import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { inheritedEnvironment } from '../../../base/config/local.ts';
import { makeTestDirectory, removeTestDirectory } from '../../support/directories.ts';
import { runProgram } from '../../support/processes.ts';

/** Programs that note what they are asked. The server responds from the third command on; it has a namespace if THERE is `yes`. */
const programs = {
  'temporal-sql-tool': `#!/bin/sh
echo "$SQL_USER:$SQL_PASSWORD@$SQL_HOST:$SQL_PORT $SQL_PLUGIN $*" >>"$NOTES"
case "$*" in *"$FAILS"*) exit 1 ;; esac
`,
  temporal: `#!/bin/sh
echo "$*" >>"$NOTES"
if [ "$(wc -l <"$NOTES")" -lt 3 ]; then exit 1; fi
case "$*" in *describe*) [ "$THERE" = yes ] ;; esac
`,
  getent: '#!/bin/sh\necho "10.0.0.7       temporal"\n',
  sleep: '#!/bin/sh\n',
};

describe('ops/deploy/prepare-temporal.sh', () => {
  let directory: string;
  before(() => {
    directory = makeTestDirectory();
    mkdirSync(directory, { recursive: true });
    for (const [name, text] of Object.entries(programs)) {
      writeFileSync(join(directory, name), text);
      chmodSync(join(directory, name), 0o755);
    }
  });
  after(() => removeTestDirectory(directory));

  async function prepare(what: string, { there = 'no', fails = 'nothing' } = {}) {
    const notes = join(directory, 'notes');
    writeFileSync(notes, '');
    const database = { DB: 'postgres12', DB_PORT: '5432', POSTGRES_SEEDS: 'postgres', POSTGRES_USER: 'temporal', POSTGRES_PWD: 'made' };
    const env = { PATH: `${directory}:${inheritedEnvironment().PATH}`, NOTES: notes, THERE: there, FAILS: fails, ...database };
    const { code } = await runProgram('sh', ['ops/deploy/prepare-temporal.sh', what], { env }).exited;
    return { code, commands: readFileSync(notes, 'utf8').trim().split('\n') };
  }
  const tool = 'temporal:made@postgres:5432 postgres12';

  it('makes and updates both schemas, as the owner of the databases', async () => {
    expect(await prepare('schema')).to.deep.equal({
      code: 0,
      commands: [
        `${tool} --database temporal setup-schema --version 0.0`,
        `${tool} --database temporal update-schema --schema-name postgresql/v12/temporal`,
        `${tool} --database temporal_visibility setup-schema --version 0.0`,
        `${tool} --database temporal_visibility update-schema --schema-name postgresql/v12/visibility`,
      ],
    });
    expect(await prepare('schema', { fails: '_visibility setup' })).to.deep.include({ code: 1 });
  });

  const describeIt = 'operator namespace describe --namespace default --address 10.0.0.7:7233';
  const createIt = 'operator namespace create --retention 720h --namespace default --address 10.0.0.7:7233';

  it('makes the namespace once the server responds, with as many days as jobs are kept', async () => {
    expect(await prepare('namespace')).to.deep.equal({ code: 0, commands: [describeIt, createIt, describeIt, createIt] });
  });

  it('leaves a namespace that is there', async () => {
    expect(await prepare('namespace', { there: 'yes' })).to.deep.equal({ code: 0, commands: [describeIt, createIt, describeIt] });
  });
});
