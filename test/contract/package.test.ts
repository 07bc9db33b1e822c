import { execFile } from 'node:child_process';
import { copyFileSync, globSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { routes, version } from '../../contract/index.ts';
import { webhooksOn } from '../adapters/webhooks/support.ts';
import { compile, makeConsumer } from '../clients/support/consumer.ts';
import { makeTestDirectory, removeTestDirectory } from '../support/directories.ts';
import { nightly } from '../support/nightly.ts';
import { useApi } from '../support/use-api.ts';
import { everyCall, refusedByState } from './support/every-call.ts';

const run = promisify(execFile);
const readme = readFileSync('contract/README.md', 'utf8');
const manifest = JSON.parse(readFileSync('contract/package.json', 'utf8'));
/** A release of each line that is supported besides the one at hand. */
const runtimes = ['20.20.2', '22.23.3'];

describe('The package of the contract', () => {
  const { api } = useApi({ env: { CONTACT_EMAIL: 'operator@example.com', QUESTION_LIMIT_PER_MINUTE: '1000', ...webhooksOn } });
  let directory: string;
  let consumer: string;

  before(async () => {
    directory = makeTestDirectory();
    consumer = await makeConsumer(directory, 'contract');
    copyFileSync('test/contract/support/call-everything.mts', join(consumer, 'call-everything.ts'));
    writeFileSync(join(consumer, 'readme.ts'), [...readme.matchAll(/^```ts\n(.*?)^```$/gms)].map(([, code]) => code).join(''));
  });
  after(() => removeTestDirectory(directory));

  it('is built, and carries the contract alone', () => {
    expect(manifest.version).to.equal(version);
    const { dependencies } = JSON.parse(readFileSync('package.json', 'utf8'));
    for (const [name, pinned] of Object.entries(manifest.dependencies)) expect(pinned, name).to.equal(dependencies[name]);
    const installed = join(consumer, 'node_modules/@sheaf/contract');
    const files = globSync('**/*', { cwd: installed, withFileTypes: true }).filter((entry) => entry.isFile());
    const names = files.map(({ parentPath, name }) => join(parentPath, name).slice(installed.length + 1));
    expect(names).to.include.members(['dist/index.js', 'dist/index.d.ts', 'dist/errors.js', 'dist/webhook-events.js']);
    const others = names.filter((name) => !/^dist\/(?!openapi)[a-z-]+\.(js|d\.ts)$/.test(name));
    expect(others.sort()).to.deep.equal(['LICENSE', 'README.md', 'package.json']);
  });

  it('compiles strictly, without an error in its own declarations', async () => {
    const said = (await compile(consumer, ['--skipLibCheck', 'false'])).split('\n').filter((line) => / error TS/.test(line));
    expect(said.filter((line) => !/@ts-rest\/core\//.test(line))).to.deep.equal([]);
  });

  it('calls every operation', () => callsAll(process.execPath, []));
  for (const runtime of runtimes)
    nightly(`calls every operation on Node.js ${runtime}`, () => callsAll('npx', ['-y', '-p', `node@${runtime}`, '--', 'node']));

  async function callsAll(command: string, args: string[]): Promise<void> {
    const file = join(consumer, 'calls.json');
    writeFileSync(file, JSON.stringify({ baseUrl: `${api.url}/api/v1`, calls: await everyCall(api) }));
    const { stdout } = await run(command, [...args, 'call-everything.js', file], { cwd: consumer });
    const called = stdout
      .trimEnd()
      .split('\n')
      .map((line) => line.split(' '));
    expect(called.map(([operation]) => operation).sort()).to.deep.equal(routes.map(({ metadata }) => metadata.operation).sort());
    const unexpected = called.filter(([operation = '', status]) => status !== '200' && !refusedByState.includes(operation));
    expect(unexpected).to.deep.equal([]);
  }
});
