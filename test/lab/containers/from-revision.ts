import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Deployment, prepareDeployment } from './deployment.ts';
import type { Fault } from './faults.ts';
import { runCommand } from './run-command.ts';

/** A deployment of an earlier revision of git, by its own docker-compose.yml, in a directory of its own. */
export async function prepareRevision(revision: string): Promise<Deployment> {
  const directory = mkdtempSync(join(tmpdir(), 'sheaf-revision-'));
  const archive = `${directory}.tar`;
  await runCommand('git', ['archive', '--output', archive, revision]);
  await runCommand('tar', ['--extract', '--file', archive, '--directory', directory]);
  rmSync(archive);
  const deployment = await prepareDeployment(undefined, directory);
  return {
    ...deployment,
    forget: async () => {
      rmSync(directory, { recursive: true });
      await deployment.forget();
    },
  };
}

const copyFiles =
  'git ls-files -z --cached --others --exclude-standard | tar --create --null --files-from - | tar --extract --directory "$1"';

/** Puts the files of this working tree in the place of those of the earlier revision, and upgrades. Requests may fail: the edge may have changed. */
export const upgradeToThis: Fault = {
  name: 'upgrade to this',
  inject: async (compose) => {
    rmSync(compose.directory, { recursive: true });
    mkdirSync(compose.directory);
    await runCommand('sh', ['-eu', '-c', copyFiles, 'sh', compose.directory]);
    await runCommand('sh', ['ops/deploy/upgrade.sh'], { env: compose.env, cwd: compose.directory });
  },
};
