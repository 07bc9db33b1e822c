import { execFile } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { workflowIds } from '../../contract/intents/definitions.ts';
import { makeTestDirectory, removeTestDirectory } from '../support/directories.ts';
import { useApi } from '../support/use-api.ts';
import { pointTo, runDemo, startDemo } from './support/run-demo.ts';

const note = '# Lighthouse\n\nThe lamp is lit at dusk by the keeper. Oil is fetched from the quay once a month by boat.\n';

describe('npm run demo', () => {
  const { api } = useApi();
  let directory: string;
  const fileOf = (name: string, content: string) => {
    const path = join(directory, name);
    writeFileSync(path, content);
    return path;
  };

  /** As a value in a link. */
  const onlyOrganization = async () => {
    const { id } = await api.database.db.selectFrom('organization').select('id').orderBy('createdAt', 'desc').executeTakeFirstOrThrow();
    return encodeURIComponent(`OrganizationId="${id}"`);
  };

  before(() => {
    directory = makeTestDirectory();
  });
  after(() => removeTestDirectory(directory));

  it('takes a file of the user through the main job, and prints nothing but one JSON object', async () => {
    const { code, stdout, stderr } = await runDemo(['--json', fileOf('keeper.md', note)], pointTo(api));
    expect(code, stderr).to.equal(0);
    const { documents, jobs, search, creditsUsed } = JSON.parse(stdout);

    expect(documents).to.have.length(1);
    expect(documents[0]).to.have.all.keys('id', 'name', 'status', 'extracted', 'summary', 'chunkCount');
    expect(documents[0]).to.include({ name: 'keeper.md', status: 'ready', chunkCount: 1 });
    expect(documents[0].extracted.characters).to.be.greaterThan(50);
    expect(documents[0].summary).to.include('The lamp is lit at dusk');

    expect(jobs.map(({ kind }: any) => kind).sort()).to.deep.equal(['document.extract', 'document.index', 'document.summarize']);
    for (const job of jobs) {
      expect(job).to.have.all.keys('id', 'kind', 'status', 'attempts', 'workflowUrl');
      expect(job).to.include({ status: 'succeeded', attempts: 1 });
      const workflowId = workflowIds.runJob(job.id);
      expect(job.workflowUrl).to.equal(`http://temporal.example.com/namespaces/${api.temporal.namespace}/workflows/${workflowId}`);
      await api.temporal.client.workflow.getHandle(workflowId).describe();
    }

    expect(search).to.have.length(1);
    expect(search[0]).to.have.all.keys('query', 'mode', 'model', 'best');
    expect(search[0]).to.include({ query: 'The lamp is lit at dusk by the keeper.', mode: 'hybrid', model: 'local-hash-256' });
    expect(search[0].best).to.include({ place: 'keeper.md, Lighthouse' });
    expect(search[0].best.passage).to.include('The «lamp» is «lit» at «dusk»');
    expect(creditsUsed).to.equal(8);
  });

  it('shows the samples on one screen: what the jobs took, three questions with their passage, one link', async () => {
    const { code, stdout, stderr } = await runDemo([], pointTo(api));
    expect(code, stderr).to.equal(0);
    expect(stdout.split('\n').length).to.be.lessThan(40);
    expect(stdout).to.match(/^observatory-handbook\.pdf +\d+ kB +\d +\d+\.\d s +\d+\.\d s +\d+\.\d s$/m);
    expect(stdout).to.include('Questions, asked by meaning and by words (hybrid, local-hash-256)');
    expect(stdout.match(/^ {2}“/gm)).to.have.length(3);
    expect(stdout.replace(/\s+/g, ' ').replaceAll(/[«»]/g, '')).to.include('every Tuesday and Friday at 13:30');
    expect(stdout.match(/http:\/\/temporal\.example\.com\S*/g)).to.deep.equal([
      `http://temporal.example.com/namespaces/${api.temporal.namespace}/workflows?query=${await onlyOrganization()}`,
    ]);
  });

  it('finds in the samples what their queries look for', async () => {
    const { code, stdout, stderr } = await runDemo(['--json', '--verbose'], pointTo(api));
    expect(code, stderr).to.equal(0);
    const { documents, search } = JSON.parse(stdout);
    const expected: { query: string; contains: string }[] = JSON.parse(readFileSync('docs/examples/samples/queries.json', 'utf8'));
    const types = documents.map(({ name }: any) => name.replace(/.*\./, ''));
    expect(types).to.have.members(['csv', 'html', 'md', 'pdf', 'png', 'txt']);
    const [[best]] = search.map(({ results }: any) => results);
    expect(best).to.have.property('documentId');
    expect(best.citation).to.have.any.keys('page', 'headings', 'start');
    expect(search.map(({ query }: any) => query)).to.deep.equal(expected.map(({ query }) => query));
    const texts = search.map(({ results }: any) => results.map(({ text }: any) => text.replace(/\s+/g, ' ')).join('\n'));
    expect(expected.filter(({ contains }, index) => !texts[index].includes(contains))).to.deep.equal([]);
  });

  it('prints the page of what it finds, and marks what matched', async () => {
    const { code, stdout, stderr } = await runDemo(
      ['--query', 'the supply truck leaves the railway halt at Tarn Bridge', 'docs/examples/samples/observatory-handbook.pdf'],
      pointTo(api),
    );
    expect(code, stderr).to.equal(0);
    expect(stdout).to.match(/ {4}observatory-handbook\.pdf, page 1\n[\s\S]*The\s+«supply»\s+«truck»\s+«leaves»/);
  });

  it('searches in the mode that is named, and says which it is', async () => {
    const args = ['--mode', 'lexical', '--query', 'lamp at dusk', fileOf('keeper.md', note)];
    const { stdout } = await runDemo(args, pointTo(api));
    expect(stdout).to.include('\nQuestions, asked by words (lexical, bm25)\n');
  });

  it('prints lines of at most 80 columns, but for links and a line to paste that makes a key, and no control characters', async () => {
    const files = [fileOf('keeper.md', note), join(directory, 'colour \u001b[31m.md')];
    const { stdout, stderr } = await runDemo(['--query', 'who lights the lamp?', ...files], pointTo(api));
    expect(stderr).to.match(/^ {2}✘ [^\p{Cc}]*: there is no such file\n$/u);
    const lines = stdout.split('\n').filter((line) => !/^(http:\/\/|curl )/.test(line));
    expect(lines.filter((line) => line.length > 80)).to.deep.equal([]);
    expect(stdout.replaceAll('\n', '')).not.to.match(/\p{Cc}/u);
    expect(stdout)
      .to.match(/“who lights the lamp\?”\n {4}keeper\.md, Lighthouse\n[\s\S]*The «lamp» is lit at dusk/)
      .and.include('Credits used: 8');
    expect(stdout, 'no link where there is no console').not.to.include('In the console');
    const { stdout: made } = await promisify(execFile)('sh', ['-c', stdout.trimEnd().split('\n').at(-1) ?? '']);
    const { secret, organizationId } = JSON.parse(made);
    expect((await api.request('GET', `/api/v1/organizations/${organizationId}/usage`, { token: secret })).status).to.equal(200);
  });

  it('names every file that cannot be used, works on the others, says which job fails and why, and exits with 1', async () => {
    const bad = {
      [fileOf('empty.txt', '')]: 'the file is empty',
      [fileOf('program.exe', 'x')]: 'files of this type are not taken',
      [join(directory, 'missing.md')]: 'there is no such file',
      [directory]: 'this is not a file',
    };
    // Whether a further kind is taken is left to the service.
    const files = [...Object.keys(bad), fileOf('lease.docx', 'x'), fileOf('broken.pdf', 'no PDF at all'), fileOf('good.md', note)];
    const { code, stdout, stderr } = await runDemo(['--json', ...files], pointTo(api));
    expect(code).to.equal(1);
    for (const [path, reason] of Object.entries(bad)) expect(stderr).to.include(`✘ ${path}: ${reason}`);
    expect(stderr)
      .to.match(/✘ lease\.docx: contentType: must be one of application\/pdf, /)
      .and.match(/✘ broken\.pdf: extract failed: ./);
    const { documents, jobs, creditsUsed } = JSON.parse(stdout);
    expect(documents.map(({ name, chunkCount }: any) => [name, chunkCount])).to.deep.equal([
      ['broken.pdf', null],
      ['good.md', 1],
    ]);
    expect(jobs.filter(({ status }: any) => status === 'failed').map(({ kind }: any) => kind)).to.deep.equal(['document.extract']);
    expect(creditsUsed).to.equal(8);
  });

  it('asks no service when no file can be used', async () => {
    const { code, stdout, stderr } = await runDemo(['--json', fileOf('empty.md', '')], { SHEAF_URL: 'http://127.0.0.1:1' });
    expect(code).to.equal(1);
    expect(JSON.parse(stdout)).to.deep.equal({ documents: [], jobs: [], search: [], creditsUsed: 0 });
    expect(stderr).to.include('the file is empty').and.not.include('127.0.0.1');
  });

  it('says so when the service does not respond, or is another one', async () => {
    const path = fileOf('note.md', note);
    const nobody = await runDemo([path], { SHEAF_URL: 'http://127.0.0.1:1' });
    expect(nobody).to.include({ code: 1, stdout: '' });
    expect(nobody.stderr).to.equal('\nhttp://127.0.0.1:1 does not respond.\n');
    const other = await runDemo([path], { SHEAF_URL: api.stack.aiUrl });
    expect(other.code).to.equal(1);
    expect(other.stderr).to.equal(`\nWhat responds at ${api.stack.aiUrl} is not this service.\n`);
  });

  it('refuses unknown options and modes with 2, and explains itself', async () => {
    const wrong = await runDemo(['--jsno'], {});
    expect(wrong).to.include({ code: 2, stdout: '' });
    expect(wrong.stderr).to.include("Unknown option '--jsno'");
    const mode = await runDemo(['--mode', 'fuzzy'], {});
    expect(mode).to.include({ code: 2, stdout: '' });
    expect(mode.stderr).to.include('--mode must be one of semantic, lexical, hybrid');
    const asked = await runDemo(['--help'], {});
    expect(asked).to.include({ code: 0, stderr: '' });
    expect(asked.stdout).to.include('npm run demo -- ').and.include('SHEAF_URL');
  });

  it('ends at once on Ctrl-C, with 130', async () => {
    const demo = startDemo(['--verbose'], pointTo(api));
    await demo.printed(/live stream/);
    demo.child.kill('SIGINT');
    expect(await demo.exited).to.deep.equal({ code: 130, signal: null });
    expect(demo.stderr()).to.equal('');
  });
});
