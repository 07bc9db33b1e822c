import { globSync, readFileSync } from 'node:fs';
import { expect } from 'chai';
import type { Environment } from '../../base/config/environment.ts';
import { startFaultyProxy } from '../clients/support/faulty-proxy.ts';
import { endPrograms, runProgram } from '../support/processes.ts';
import { useApi } from '../support/use-api.ts';

describe('The examples', () => {
  const { api, tenant } = useApi({ tenant: 'of each test' });
  const environment = (): Environment => ({
    SHEAF_URL: api.url,
    SHEAF_TOKEN: tenant.owner.token,
    SHEAF_ORGANIZATION: tenant.organizationId,
  });
  const run = (file: string, ...args: string[]) => runProgram(process.execPath, [`docs/examples/${file}`, ...args], { env: environment() });

  afterEach(endPrograms);

  for (const file of globSync('docs/examples/*.ts'))
    it(`${file} has at most 40 lines, begins with what it shows and how it is run, and stands in the README`, () => {
      const lines = readFileSync(file, 'utf8').trimEnd().split('\n');
      expect(lines).to.have.length.of.at.most(40);
      expect(lines[1]).to.match(/^\/\/ Run it/);
      expect(lines.slice(0, 3).map((line) => line.startsWith('// '))).to.deep.equal([true, true, false]);
      expect(readFileSync('README.md', 'utf8')).to.include(`(${file})`);
    });

  it('upload a document and find a passage in it', async () => {
    const program = run('upload-and-search.ts', 'docs/examples/samples/beekeeping-notes.md', 'counting varroa mites under a hive');
    expect((await program.exited).code, program.stderr()).to.equal(0);
    expect(program.stdout()).to.match(/^0\.\d{3} {2}beekeeping-notes\.md\n/);
    expect(program.stdout()).to.include('count the mites');
  });

  it('say why a document could not be indexed', async () => {
    const program = run('upload-and-search.ts', 'docs/examples/samples/observatory-handbook.pdf', 'mites');
    expect((await program.exited).code).to.equal(1);
    expect(program.stderr()).to.match(/^The file is a PDF, but was declared as text\/markdown\./);
  });

  it('follow jobs as they change', async () => {
    const program = run('follow-jobs.ts');
    await program.printed(/connected/);
    const document = await api.upload(tenant, { bytes: 'The lamp is lit at dusk.' });
    const body = { kind: 'document.extract', documentId: document.id };
    const job = await api.request('POST', '/api/v1/jobs', { token: tenant.owner.token, body });
    await program.printed(new RegExp(`${job.body.id}  document\\.extract succeeded, attempt 1 of 4\n`));
  });

  it('follow jobs across a break, while a gateway says that the service is away', async () => {
    const proxy = await startFaultyProxy(api.url);
    const program = runProgram(process.execPath, ['docs/examples/follow-jobs.ts'], { env: { ...environment(), SHEAF_URL: proxy.url } });
    await program.printed(/connected/);
    proxy.faults = () => (proxy.passed.length === 2 ? { status: 502, headers: { 'content-type': 'text/html' } } : undefined);
    proxy.cut();
    await program.printed(/connected\n(.*\n)*connected/);
    expect(proxy.passed).to.have.length(3);
    await proxy.close();
  });

  it('say that a stream is refused, and end', async () => {
    tenant.owner.token = 'no token';
    const program = run('follow-jobs.ts');
    expect((await program.exited).code).to.equal(1);
    expect(program.stderr()).to.equal('The stream is refused: 401\n');
  });

  it('say in one line that no service runs', async () => {
    const nobody = { ...environment(), SHEAF_URL: 'http://127.0.0.1:9' };
    for (const args of [['upload-and-search.ts', 'docs/examples/samples/beekeeping-notes.md', 'mites'], ['retry-failed-jobs.ts']]) {
      const program = runProgram(process.execPath, [`docs/examples/${args[0]}`, ...args.slice(1)], { env: nobody });
      expect((await program.exited).code).to.equal(1);
      expect(program.stderr()).to.match(/^The service could not be reached, or its response was lost \(.+\)\.\n$/);
    }
    const following = runProgram(process.execPath, ['docs/examples/follow-jobs.ts'], { env: nobody });
    await following.printed(/^connecting again …\n/);
    following.child.kill();
  });

  it('retry failed jobs of one error code, each once', async () => {
    const { token } = tenant.owner;
    const document = await api.upload(tenant, { name: 'broken.pdf', contentType: 'application/pdf', bytes: 'no PDF at all' });
    const body = { kind: 'document.extract', documentId: document.id };
    const original = (await api.request('POST', '/api/v1/jobs', { token, body })).body;
    const { error } = await api.jobIn(token, original.id, ['failed']);

    const other = run('retry-failed-jobs.ts', 'another_error');
    expect((await other.exited).code, other.stderr()).to.equal(0);
    expect(other.stdout()).to.equal('failed and not retried yet: 0\n');

    const first = run('retry-failed-jobs.ts', error.code);
    expect((await first.exited).code, first.stderr()).to.equal(0);
    const [, retryId = ''] = new RegExp(`${original.id} \\(${error.code}\\) is retried as (\\S+)\n`).exec(first.stdout()) ?? [];
    const retry = await api.jobIn(token, retryId, ['failed']);
    expect(retry.input.retryOf).to.equal(original.id);

    const second = run('retry-failed-jobs.ts');
    expect((await second.exited).code, second.stderr()).to.equal(0);
    expect(second.stdout()).to.include('not retried yet: 1\n').and.include(`${retryId} (`).and.not.include(original.id);
  });
});
