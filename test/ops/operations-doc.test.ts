import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { expect } from 'chai';
import { inheritedEnvironment } from '../../base/config/local.ts';
import { DirectoryPlace } from '../../ops/backup/directory-place.ts';
import { nameOfBackup } from '../../ops/backup/keep-latest.ts';
import { createSupervisor } from '../../ops/local/supervise.ts';
import { findTemporalCli } from '../../ops/local/temporal-cli.ts';
import { faults } from '../lab/drill/faults/index.ts';
import { makeTestDirectory, removeTestDirectory } from '../support/directories.ts';
import { amountsOf, expectSoundLedger } from '../support/jobs.ts';
import { runProgram } from '../support/processes.ts';
import { useApi } from '../support/use-api.ts';

const doc = readFileSync('docs/operations.md', 'utf8');
const commands = [...doc.matchAll(/^```sh\n(.*?)^```$/gms)].flatMap(([, code = '']) => code.trim().split('\n'));
const isRunHere = (command: string) => /^(npm run ops -- |temporal )/.test(command);

describe('docs/operations.md', () => {
  const { api, tenant } = useApi();
  let failed: string;
  let env: Record<string, string | undefined>;

  before(async () => {
    const { token } = tenant.owner;
    const { id: documentId } = await api.upload(tenant, { contentType: 'application/pdf', bytes: 'this is no PDF' });
    const { body } = await api.request('POST', '/api/v1/jobs', { token, body: { kind: 'document.extract', documentId } });
    failed = body.id;
    await api.jobIn(token, failed, ['failed']);
    const supervisor = createSupervisor();
    const { dataDir } = api.stack;
    const temporal = await findTemporalCli({ supervisor, logFile: join(dataDir, 'fetch.log'), note: () => {} });
    await supervisor.close();
    const PATH = [dirname(process.execPath), dirname(temporal), inheritedEnvironment().PATH].join(delimiter);
    const { organizationId: ORGANIZATION } = await api.createTenant();
    const leftOver = { id: 'left-over', referenceId: ORGANIZATION, plan: 'pro', status: 'active' };
    await api.database.db.insertInto('subscription').values(leftOver).execute();
    env = { ...api.stack.env, TEMPORAL_NAMESPACE: api.temporal.namespace, JOB: failed, ORGANIZATION, PATH };
  });
  after(async () => {
    await expectSoundLedger(api);
  });

  for (const command of commands.filter(isRunHere)) {
    it(`has a command that works: ${command.replace(/ *#.*/, '')}`, async () => {
      const program = runProgram('sh', ['-eu', '-c', command], { env });
      expect((await program.exited).code, program.stdout() + program.stderr()).to.equal(0);
    });
  }

  for (const [scheduler, findCommand] of [
    ['cron', commandOfCrontab],
    ['systemd', commandOfUnit],
  ] as const) {
    it(`has a line for ${scheduler} that makes a backup named by the time`, async () => {
      const directory = makeTestDirectory();
      try {
        const command = findCommand(doc).replace('/opt/sheaf', process.cwd()).replace('/srv/backups', directory);
        const startedAt = await nameOfBackup(new DirectoryPlace('/nowhere'), new Date());
        const program = runProgram('sh', ['-c', command], { env });
        expect((await program.exited).code, program.stdout() + program.stderr()).to.equal(0);
        const made = readdirSync(directory);
        expect(made).to.have.length(1);
        const inOrder = [startedAt, made[0], await nameOfBackup(new DirectoryPlace('/nowhere'), new Date())];
        expect(inOrder).to.deep.equal(inOrder.toSorted());
        expect(existsSync(join(directory, made[0] ?? '', 'manifest.json'))).to.equal(true);
      } finally {
        removeTestDirectory(directory);
      }
    });
  }

  it('has none that changes what a failed job came to', async () => {
    await api.temporal.client.workflow
      .getHandle(`job-${failed}`)
      .result()
      .catch(() => undefined);
    expect(await api.jobIn(tenant.owner.token, failed, ['failed'])).to.include({ attempts: 1 });
    expect(await amountsOf(api, failed)).to.deep.equal([1, -1]);
  });

  it('names only scripts, faults, workflows and files that there are', () => {
    const { scripts } = JSON.parse(readFileSync('package.json', 'utf8'));
    const others = commands.filter((command) => !isRunHere(command)).map((command) => command.replace(/ *#.*/, ''));
    for (const command of others) {
      const [, script = '', args = ''] = /^npm run ([\w-]+)(?: -- (.*))?$/.exec(command) ?? [];
      expect(scripts, command).to.have.property(script);
      if (script !== 'drill') expect(args, command).to.equal('');
      const names = args.split(' ').filter((arg) => !/^(--short|--json|--cut-minutes=\d+|--webhooks=\d+x\d+@\d+)?$/.test(arg));
      expect(faults.map(({ name }) => name)).to.include.members(names);
    }
    const links = [...doc.matchAll(/\]\(([^):]+)\)/g)].map(([, path = '']) => join('docs', path.replace(/#.*/, '')));
    expect(links.filter((path) => !existsSync(path))).to.deep.equal([]);
  });
});

/** What cron runs of a crontab's line: the command ends at a `%`, unless a backslash stands before it; `man 5 crontab`. */
function commandOfCrontab(text: string): string {
  const [, command = ''] = /^```crontab\n(?:\S+ ){5}(.*)\n```$/m.exec(text) ?? [];
  return (command.split(/(?<!\\)%/)[0] ?? '').replaceAll('\\%', '%');
}

/** What systemd runs of a unit's line: `%%` and `$$` are the signs themselves; `man systemd.unit`, `man systemd.service`. */
function commandOfUnit(text: string): string {
  const [, command = ''] = /^ExecStart=\/bin\/sh -c '(.*)'$/m.exec(text) ?? [];
  expect(command.replaceAll(/%%|\$\$/g, '')).not.to.match(/[%$]/);
  return command.replaceAll('%%', '%').replaceAll('$$', '$');
}
