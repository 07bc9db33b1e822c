import { copyFileSync, globSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import { expect } from 'chai';
import { operations } from '../../clients/typescript/operations.ts';
import { routes, version } from '../../contract/index.ts';
import { createKey } from '../support/api-keys.ts';
import { makeTestDirectory, removeTestDirectory } from '../support/directories.ts';
import { runProgram } from '../support/processes.ts';
import { expectOk } from '../support/requests.ts';
import { useApi } from '../support/use-api.ts';
import { completePython, pythonClientDirectory } from './support/python-client.ts';

const readme = readFileSync('clients/python/README.md', 'utf8');
const listMethods = `
from sheaf_client import AsyncClient, Client
for client in (Client("http://localhost", "key"), AsyncClient("http://localhost", "key")):
    for group, methods in vars(client).items():
        print(*(f"{group}_{name}" for name in dir(methods) if group[0] != "_" and name[0] != "_"), end=" ")
    print()
`;
const listLacking = `
from inspect import signature
from sheaf_client import AsyncClient, Client
for client in (Client("http://localhost", "key"), AsyncClient("http://localhost", "key")):
    print(sorted(set(signature(client.documents.ask).parameters) - set(signature(client.ask_stream).parameters)))
`;
const wrong = `
from sheaf_client import Client
client = Client("http://localhost", "key")
client.jobs.create(kind="document.index", text="a")
client.documents.get("1").sizes
`;

const refusedKeys = `
from sheaf_client import AsyncClient, Client
for kind in (Client, AsyncClient):
    for key in ("sheaf_one two", "sheaf_one\\ntwo", "sheaf_\\u20ac"):
        try:
            kind("http://localhost", key)
        except Exception as error:
            print(f"{type(error).__name__}: {error}")
`;

describe('The Python client', () => {
  const { api, tenant } = useApi();
  let directory: string;
  let installed: string;

  before(() => {
    directory = makeTestDirectory();
    installed = join(pythonClientDirectory(), 'installed');
    const program = [...readme.matchAll(/^```python\n(.*?)^```$/gms)].map(([, code]) => code).join('');
    writeFileSync(join(directory, 'readme.py'), program.replaceAll('https://api.example.com', api.url));
    copyFileSync('docs/examples/samples/beekeeping-notes.md', join(directory, 'notes.md'));
  });
  after(() => removeTestDirectory(directory));

  it('is a wheel of the version of the contract, with its types, license and README', async () => {
    const [wheel = ''] = globSync(join(pythonClientDirectory(), '*.whl'));
    expect(basename(wheel)).to.equal(`sheaf_client-${version}-py3-none-any.whl`);
    expect(readme).to.include(basename(wheel));
    const files = (await completePython(['-m', 'zipfile', '-l', wheel])).split('\n').map((line) => line.split(' ')[0]);
    const information = `sheaf_client-${version}.dist-info`;
    expect(files).to.include.members(['sheaf_client/py.typed', `${information}/licenses/LICENSE`, 'sheaf_client/models/document.py']);
    expect(files.filter((file) => file && !/^(sheaf_client\/.*\.(py|typed)|sheaf_client-.*)$/.test(file))).to.deep.equal(['File']);
    const [metadata = '', description = ''] = readFileSync(join(installed, information, 'METADATA'), 'utf8').split('\n\n# sheaf-client\n');
    expect(description).to.include('## Upload');
    // Older ones end lines within texts.
    expect(metadata).to.match(/^Requires-Dist: httpx-sse<0\.5,>=0\.4\.2$/m);
  });

  it('has every operation of the contract, in both clients, and repeats each as the other client does', async () => {
    const repetitions = Object.fromEntries(flatten(operations));
    const written = globSync(join(installed, 'sheaf_client/api/*/*_*.py')).filter((file) => basename(file) !== '__init__.py');
    const generated = written.map((file) => [basename(file, '.py'), /repetition="(\w+)"/.exec(readFileSync(file, 'utf8'))?.[1]]);
    expect(Object.fromEntries(generated)).to.deep.equal(repetitions);
    const methods = (await completePython(['-c', listMethods])).trimEnd().split('\n');
    const streams = routes.filter(({ metadata }) => metadata.stream).map(({ metadata }) => toPythonName(metadata.operation.split('.')));
    const names = Object.keys(repetitions).filter((name) => !streams.includes(name));
    for (const line of methods) expect(line.trim().split(' ').sort()).to.deep.equal(names.sort());
    // The stream of an answer is written by hand.
    expect(await completePython(['-c', listLacking])).to.equal('[]\n[]\n');
  });

  it('is typed, and refuses what the contract refuses', async () => {
    writeFileSync(join(directory, 'wrong.py'), wrong);
    const own = globSync('clients/python/sheaf_client/**/*.py').map((file) => file.slice('clients/python/'.length));
    const made = ['answer', 'client', 'event_stream', 'stream', 'transport', 'operations'].map((name) => `sheaf_client/_sync/${name}.py`);
    const files = [...own, ...made, join(directory, 'readme.py'), join(directory, 'wrong.py')];
    const options = ['--strict', '--follow-imports=silent', '--no-error-summary', '--cache-dir', join(directory, 'cache')];
    const mypy = runProgram(resolve('.python/bin/mypy'), [...options, ...files], { cwd: installed });
    await mypy.exited;
    const said = mypy
      .stdout()
      .trimEnd()
      .split('\n')
      .filter((line) => !line.includes(' note: '));
    expect(said, mypy.stderr()).to.have.length(2);
    expect(said[0]).to.match(/wrong\.py:4: error: No overload variant of "create" of "Jobs" matches/);
    expect(said[1]).to.match(/wrong\.py:5: error: "Document" has no attribute "sizes"; maybe "size"\?/);
  });

  it('refuses a key that no header can hold, without showing it', async () => {
    writeFileSync(join(directory, 'keys.py'), refusedKeys);
    const said = 'ValueError: api_key must not be empty, nor have blanks or line breaks within it.';
    expect(await completePython(['keys.py'], { cwd: directory })).to.equal(`${said}\n`.repeat(6));
  });

  it('does what its README says, by the key that it names, after what the first README has made', async () => {
    const { organizationId, owner } = tenant;
    await expectOk(
      api.request('POST', '/api/v1/workspaces', { token: owner.token, body: { organizationId, name: 'Notes', slug: 'notes' } }),
    );
    const [, permissions = ''] = /^MAY='(.*)'$/m.exec(readme) ?? [];
    const { token } = await createKey(api, tenant, { permissions: JSON.parse(permissions) });
    const env = { SHEAF_API_KEY: token };
    const stdout = await completePython(['readme.py'], { env, cwd: directory });
    const lines = stdout.trimEnd().split('\n');
    expect(lines.slice(0, 2)).to.deep.equal(['2953 of 2953 bytes', 'ready']);
    expect(lines).to.include('document.index succeeded');
    expect(stdout).to.match(/^notes\.md 0\.\d+ .*?count the mites/ms);
    expect(lines).to.include.members(['mites', 'count']);
    expect(stdout).to.match(/^False [1-5]$/m);
    expect(stdout).to.match(/^.+ \[\('notes\.md', None, .*\)\]$/m);
    expect(stdout).to.match(/^0 are gone with their documents; it cost 3 credits\.$/m);
    expect(stdout).to.match(/^CONFLICT 409 [0-9a-f-]{36}$/m);
    expect(lines.slice(-2)).to.deep.equal(['notes.md', 'True']);
    expect(lines.filter((line) => line === 'True')).to.have.length(2);
  });
});

/** How often each operation may be made, by its name in Python. */
function flatten(tree: object, above: string[] = []): [string, string][] {
  return Object.entries(tree).flatMap(([name, node]) => {
    const path = [...above, name];
    return typeof node === 'string' ? [[toPythonName(path), node] as [string, string]] : flatten(node, path);
  });
}

function toPythonName(path: string[]): string {
  return path.join('_').replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}
