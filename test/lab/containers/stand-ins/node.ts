import { existsSync } from 'node:fs';
import { dirname } from 'node:path';
import { inheritedEnvironment } from '../../../../base/config/local.ts';
import { runCommand } from '../run-command.ts';
import type { Recipe } from './recipe.ts';
import { RootDirectory } from './root-directory.ts';

const certificates = '/etc/ssl/certs/ca-certificates.crt';

/**
 * Node and npm, with the user that the published image has. npm asks the registry that it asks on this machine, and trusts whom this machine
 * trusts: the image stays here.
 */
export const makeNode: Recipe = {
  madeOf: `Debian, the npm package node ${process.versions.node}, and npm`,
  async make(name) {
    const root = await RootDirectory.create(['ca-certificates']);
    root.copyProgram(process.execPath, '/usr/local/bin/node');
    root.copy(await findNpm(), '/usr/local/lib/node_modules/npm');
    await root.run('ln', ['-s', '../lib/node_modules/npm/bin/npm-cli.js', '/usr/local/bin/npm']);
    const registry = (await runCommand('npm', ['config', 'get', 'registry'])).trim();
    root.write('/usr/local/etc/npmrc', `registry=${registry}\n`);
    if (existsSync(certificates)) root.copy(certificates, certificates);
    await root.run('groupadd', ['--gid', '1000', 'node']);
    await root.run('useradd', ['--uid', '1000', '--gid', 'node', '--shell', '/bin/bash', '--create-home', 'node']);
    const trusted = inheritedEnvironment().NODE_EXTRA_CA_CERTS ? [`ENV NODE_EXTRA_CA_CERTS=${certificates}`] : [];
    await root.toImage(name, this.madeOf, [...trusted, 'ENV PATH=/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin', 'CMD ["node"]']);
  },
};

/** The directory of the npm that is first on the path. It knows itself; what is on the path may be a script that starts it. */
async function findNpm(): Promise<string> {
  return dirname(dirname((await runCommand('npm', ['exec', '--call', 'echo "$npm_execpath"'])).trim()));
}
