import { execFile } from 'node:child_process';
import { copyFileSync, cpSync, globSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { version } from '../../contract/index.ts';
import { makeTestDirectory, removeTestDirectory } from '../support/directories.ts';
import { useApi } from '../support/use-api.ts';

const run = promisify(execFile);
const readme = readFileSync('client/README.md', 'utf8');
const manifest = JSON.parse(readFileSync('client/package.json', 'utf8'));
const bin = resolve('node_modules/.bin');
const env = { ...process.env, PATH: `${bin}:${process.env.PATH}` };

describe('The package of the client', () => {
  const { api } = useApi();
  let directory: string;
  let consumer: string;

  before(async () => {
    directory = makeTestDirectory();
    consumer = join(directory, 'consumer');
    const tarball = await pack(join(directory, 'sources'));
    await install(tarball, consumer);
  });
  after(async () => {
    removeTestDirectory(directory);
  });

  it('has the version of the contract, and the versions of its packages that are tested here', () => {
    expect(manifest.version).to.equal(version);
    const { dependencies } = JSON.parse(readFileSync('package.json', 'utf8'));
    for (const [name, pinned] of Object.entries(manifest.dependencies)) expect(pinned, name).to.equal(dependencies[name]);
    expect(readFileSync('client/LICENSE', 'utf8')).to.equal(readFileSync('LICENSE', 'utf8'));
    expect(readme).to.include(`sheaf-client-${version}.tgz`);
  });

  it('carries its own code, and of the contract only types', () => {
    const installed = join(consumer, 'node_modules/@sheaf/client');
    const files = globSync('**/*', { cwd: installed, withFileTypes: true }).filter((entry) => entry.isFile());
    const names = files.map(({ parentPath, name }) => join(parentPath, name).slice(installed.length + 1));
    expect(names).to.include.members(['package.json', 'README.md', 'LICENSE', 'dist/client/index.js', 'dist/contract/index.d.ts']);
    const others = names.filter((name) => !/^dist\/client\/[a-z-]+\.(js|d\.ts)$|^dist\/contract\/[a-z-]+\.d\.ts$/.test(name));
    expect(others.sort()).to.deep.equal(['LICENSE', 'README.md', 'package.json']);
    const imported = names
      .filter((name) => name.endsWith('.js'))
      .flatMap((name) => [...readFileSync(join(installed, name), 'utf8').matchAll(/from '([^']+)'/g)].map(([, from]) => from));
    expect([...new Set(imported.filter((from) => !from?.startsWith('./')))].sort()).to.deep.equal(['@orpc/client', '@orpc/client/fetch']);
  });

  it('does what its README says, type-checked and run where only the package is installed', async () => {
    const program = [...readme.matchAll(/^```ts\n(.*?)^```$/gms)].map(([, code]) => code).join('');
    writeFileSync(join(consumer, 'readme.ts'), program.replaceAll('https://api.example.com', api.url));
    copyFileSync('samples/beekeeping-notes.md', join(consumer, 'notes.md'));
    await run(join(bin, 'tsc'), ['-p', '.'], { cwd: consumer, env }).catch(({ stdout }) => expect.fail(stdout));
    const { stdout } = await run(process.execPath, ['readme.js'], { cwd: consumer, env });
    const lines = stdout.trimEnd().split('\n');
    expect(lines.slice(0, 2)).to.deep.equal(['2953 of 2953 bytes', 'ready']);
    expect(lines).to.include('document.index succeeded');
    expect(stdout).to.match(/^notes\.md 0\.\d+ .*?count the mites/ms);
    expect(stdout).to.match(/^CONFLICT 409 [0-9a-f-]{36}$/m);
    expect(lines.slice(-2)).to.deep.equal(['ada@example.com', 'true']);
  });

  it('refuses what the contract refuses when it is compiled', async () => {
    const wrong =
      "import { createClient } from '@sheaf/client';\nvoid createClient({ url: 'http://localhost' }).jobs.get({ identifier: '1' });\n";
    writeFileSync(join(consumer, 'wrong.ts'), wrong);
    const result = await run(join(bin, 'tsc'), ['-p', '.'], { cwd: consumer, env }).catch(({ stdout }) => stdout);
    writeFileSync(join(consumer, 'wrong.ts'), '');
    expect(result).to.match(/^wrong\.ts\(2,\d+\): error TS2353: .*'identifier' does not exist/);
  });
});

/** Packs a copy of the sources, so that nothing is left among them. */
async function pack(sources: string): Promise<string> {
  for (const path of ['client', 'contract', 'package.json', 'tsconfig.json']) cpSync(path, join(sources, path), { recursive: true });
  symlinkSync(resolve('node_modules'), join(sources, 'node_modules'));
  const { stdout } = await run('npm', ['pack', '--json'], { cwd: join(sources, 'client'), env });
  const [packed] = Object.values(JSON.parse(stdout.slice(stdout.search(/^[[{]/m)))) as { filename: string }[];
  return join(sources, 'client', packed?.filename ?? '');
}

/** Puts the package where npm would, next to the packages that it depends on: no registry is asked. */
async function install(tarball: string, consumer: string): Promise<void> {
  const target = join(consumer, 'node_modules/@sheaf/client');
  mkdirSync(target, { recursive: true });
  await run('tar', ['-xzf', tarball, '-C', target, '--strip-components=1']);
  for (const name of [...Object.keys(manifest.dependencies), '@types/node']) {
    mkdirSync(join(consumer, 'node_modules', name, '..'), { recursive: true });
    symlinkSync(resolve('node_modules', name), join(consumer, 'node_modules', name));
  }
  writeFileSync(join(consumer, 'package.json'), JSON.stringify({ name: 'consumer', type: 'module' }));
  const compilerOptions = { strict: true, module: 'nodenext', target: 'es2024', lib: ['esnext'], types: ['node'] };
  writeFileSync(join(consumer, 'tsconfig.json'), JSON.stringify({ compilerOptions, include: ['*.ts'] }));
}
