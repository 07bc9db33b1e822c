import { globSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { version } from '../../contract/index.ts';
import { makeTestDirectory, removeTestDirectory } from '../support/directories.ts';
import { nightly } from '../support/nightly.ts';
import { useApi } from '../support/use-api.ts';
import { startProgram } from './cli/support.ts';
import { compile, makeConsumer, runReadme } from './support/consumer.ts';

const readme = readFileSync('clients/typescript/README.md', 'utf8');
const manifest = JSON.parse(readFileSync('clients/typescript/package.json', 'utf8'));

describe('The package of the client', () => {
  const { api } = useApi();
  let directory: string;
  let consumer: string;

  before(async () => {
    directory = makeTestDirectory();
    consumer = await makeConsumer(directory);
  });
  after(async () => {
    removeTestDirectory(directory);
  });

  it('has the version of the contract, and the versions of its packages that are tested here', () => {
    expect(manifest.version).to.equal(version);
    const { dependencies, devDependencies } = JSON.parse(readFileSync('package.json', 'utf8'));
    const ours = { ...devDependencies, ...dependencies };
    for (const [name, pinned] of Object.entries(manifest.dependencies)) expect(pinned, name).to.equal(ours[name]);
    expect(readFileSync('clients/typescript/LICENSE', 'utf8')).to.equal(readFileSync('LICENSE', 'utf8'));
    expect(readme).to.include(`sheaf-client-${version}.tgz`);
  });

  it('carries its own code, and of the contract only types', () => {
    const installed = join(consumer, 'node_modules/@sheaf/client');
    const files = globSync('**/*', { cwd: installed, withFileTypes: true }).filter((entry) => entry.isFile());
    const names = files.map(({ parentPath, name }) => join(parentPath, name).slice(installed.length + 1));
    expect(names).to.include.members([
      'package.json',
      'README.md',
      'LICENSE',
      'dist/clients/typescript/index.js',
      'dist/contract/index.d.ts',
    ]);
    const own =
      /^dist\/clients\/typescript\/[a-z-]+\.(js|d\.ts)$|^dist\/contract\/[a-z-]+\.d\.ts$|^dist\/clients\/typescript\/cli\/[a-z-]+(\/[a-z-]+)?\.js$/;
    const others = names.filter((name) => !own.test(name));
    expect(others.sort()).to.deep.equal(['LICENSE', 'README.md', 'package.json']);
    const imported = names
      .filter((name) => /^dist\/clients\/typescript\/[a-z-]+\.js$/.test(name))
      .flatMap((name) => [...readFileSync(join(installed, name), 'utf8').matchAll(/from '([^']+)'/g)].map(([, from]) => from));
    expect([...new Set(imported.filter((from) => !from?.startsWith('./')))].sort()).to.deep.equal(['@orpc/client', '@orpc/client/fetch']);
  });

  it('brings the command line, which calls the service', async () => {
    const program = join(consumer, 'node_modules/@sheaf/client', manifest.bin.sheaf);
    expect(readFileSync(program, 'utf8')).to.match(/^#!\/usr\/bin\/env node\n/);
    const command = { SHEAF_URL: api.url, SHEAF_API_KEY: 'none', SHEAF_ORGANIZATION: 'none' };
    const { code, stderr } = await startProgram(process.execPath, [program, 'usage'], command).ended;
    expect(code).to.equal(3);
    expect(stderr).to.match(/^Error: UNAUTHORIZED: /);
    expect((await startProgram(process.execPath, [program, '--version'], command).ended).stdout).to.equal(`${version}\n`);
  });

  nightly('does what its README says, type-checked and run where only the package is installed', async () => {
    const stdout = await runReadme(consumer, api.url);
    const lines = stdout.trimEnd().split('\n');
    expect(lines.slice(0, 2)).to.deep.equal(['2953 of 2953 bytes', 'ready']);
    expect(lines).to.include('document.index succeeded');
    expect(stdout).to.match(/^notes\.md 0\.\d+ .*?count the mites/ms);
    expect(stdout).to.match(/^CONFLICT 409 [0-9a-f-]{36}$/m);
    expect(lines.slice(-2)).to.deep.equal(['ada@example.com', 'true']);
  });

  it('is what the tutorial takes it for, whose page is type-checked', async () => {
    const tutorial = readFileSync('docs/tutorial.md', 'utf8');
    const page = [...tutorial.matchAll(/^```ts\n(.*?)^```$/gms)].map(([, code]) => code).join('');
    writeFileSync(join(consumer, 'tutorial.ts'), page);
    expect(await compile(consumer, ['--lib', 'esnext,dom,dom.iterable'])).to.equal('');
    writeFileSync(join(consumer, 'tutorial.ts'), '');
    // Where it is packed, and what the package is called.
    const [, folder = ''] = /\(cd (\S+) && npm pack\)/.exec(tutorial) ?? [];
    const { name } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
    expect(tutorial).to.include(`../sheaf/${folder}/${name.slice(1).replace('/', '-')}-${version}.tgz`);
  });

  it('refuses what the contract refuses when it is compiled', async () => {
    const wrong =
      "import { createClient } from '@sheaf/client';\nvoid createClient({ url: 'http://localhost' }).jobs.get({ identifier: '1' });\n";
    writeFileSync(join(consumer, 'wrong.ts'), wrong);
    const said = await compile(consumer);
    writeFileSync(join(consumer, 'wrong.ts'), '');
    expect(said).to.match(/^wrong\.ts\(2,\d+\): error TS2353: .*'identifier' does not exist/);
  });
});
