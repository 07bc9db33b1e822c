import { execFile } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { workflowIds } from '../../contract/intents/definitions.ts';
import { type AiService, startAiService, token } from '../ai/support/ai-service.ts';
import { makeDocx, wordParagraph } from '../ai/support/make-office.ts';
import { makeTestDirectory, removeTestDirectory } from '../support/directories.ts';
import { useApi } from '../support/use-api.ts';
import { startCuttingProxy } from './support/cutting-proxy.ts';
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

  it('prints whole results as JSON if it is verbose', async () => {
    const { code, stdout, stderr } = await runDemo(['--json', '--verbose', fileOf('keeper.md', note)], pointTo(api));
    expect(code, stderr).to.equal(0);
    const { documents, search } = JSON.parse(stdout);
    const [best] = search[0].results;
    expect(best).to.include({ documentId: documents[0].id, documentName: 'keeper.md' });
    expect(best.citation).to.deep.include({ page: null, headings: ['Lighthouse'], start: 0 });
    expect(best.highlights.map(({ start, end }: any) => best.text.slice(start, end))).to.include.members(['lamp', 'dusk']);
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

  it('ends with the line that makes an API key in its organization', async () => {
    const { stdout } = await runDemo([fileOf('keeper.md', note)], pointTo(api));
    expect(stdout, 'no link where there is no console').not.to.include('In the console');
    const { stdout: made } = await promisify(execFile)('sh', ['-c', stdout.trimEnd().split('\n').at(-1) ?? '']);
    const { secret, organizationId } = JSON.parse(made);
    const { status } = await api.request('GET', `/api/v1/organizations/${organizationId}/usage`, { token: secret });
    expect(status).to.equal(200);
  });

  it('prints the samples as JSON within 15 kB', async () => {
    const { code, stdout, stderr } = await runDemo(['--json'], pointTo(api));
    expect(code, stderr).to.equal(0);
    expect(stdout.length).to.be.lessThan(15_000);
    expect(JSON.parse(stdout).search).to.have.length(12);
  });

  it('finds in the samples what their queries look for', async () => {
    const { code, stdout, stderr } = await runDemo(['--json', '--verbose'], pointTo(api));
    expect(code, stderr).to.equal(0);
    const { documents, search } = JSON.parse(stdout);
    const expected: { query: string; contains: string }[] = JSON.parse(readFileSync('docs/examples/samples/queries.json', 'utf8'));
    const types = documents.map(({ name }: any) => name.replace(/.*\./, ''));
    expect(types).to.have.members(['csv', 'html', 'md', 'pdf', 'png', 'txt']);
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

  it('prints below the best passage of a search its sentence, if it is verbose, and counts one chunk', async () => {
    const { stdout } = await runDemo(
      ['--verbose', '--query', 'the supply truck', 'docs/examples/samples/observatory-handbook.pdf'],
      pointTo(api),
    );
    expect(stdout).to.match(/“the supply truck”\n {4}0\.\d{3} {2}observatory-handbook\.pdf, page \d\n {11}\S/);
    const one = await runDemo(['--verbose', fileOf('keeper.md', note)], pointTo(api));
    expect(one.stdout).to.include('1 chunk,').and.not.include('1 chunks');
  });

  it('searches in the mode that is named, and says which it is', async () => {
    const args = ['--mode', 'lexical', '--query', 'lamp at dusk', fileOf('keeper.md', note)];
    const json = await runDemo(['--json', '--verbose', ...args], pointTo(api));
    const [found] = JSON.parse(json.stdout).search;
    expect(found).to.include({ mode: 'lexical', model: 'bm25' });
    expect(found.results[0]).to.include({ documentName: 'keeper.md', score: null, rank: 1 });
    const { stdout } = await runDemo(args, pointTo(api));
    expect(stdout).to.include('\nQuestions, asked by words (lexical, bm25)\n');
  });

  it('leaves it to the service whether it takes a further kind, and says why it does not', async () => {
    const { code, stdout, stderr } = await runDemo(['--json', fileOf('lease.docx', 'x'), fileOf('good.md', note)], pointTo(api));
    expect(code).to.equal(1);
    expect(stderr).to.match(/✘ lease\.docx: contentType: must be one of application\/pdf, /);
    expect(JSON.parse(stdout).documents.map(({ name }: any) => name)).to.deep.equal(['good.md']);
    const alone = await runDemo([fileOf('lease.docx', 'x')], pointTo(api));
    expect(alone.code).to.equal(1);
    expect(alone.stdout, 'nothing but where the service is').to.match(/^\nSheaf \S+ at \S+\n$/);
  });

  it('prints lines of at most 80 columns, but for links and the line to paste, and no control characters', async () => {
    const files = [fileOf('keeper.md', note), join(directory, 'colour \u001b[31m.md')];
    const { stdout, stderr } = await runDemo(['--query', 'who lights the lamp?', ...files], pointTo(api));
    expect(stderr).to.match(/^ {2}✘ [^\p{Cc}]*: there is no such file\n$/u);
    const lines = stdout.split('\n').filter((line) => !/^(http:\/\/|curl )/.test(line));
    expect(lines.filter((line) => line.length > 80)).to.deep.equal([]);
    expect(stdout.replaceAll('\n', '')).not.to.match(/\p{Cc}/u);
    expect(stdout)
      .to.match(/“who lights the lamp\?”\n {4}keeper\.md, Lighthouse\n[\s\S]*The «lamp» is lit at dusk/)
      .and.include('Credits used: 8');
  });

  it('names every file that cannot be used, works on the others, and exits with 1', async () => {
    const bad = {
      [fileOf('empty.txt', '')]: 'the file is empty',
      [fileOf('program.exe', 'x')]: 'files of this type are not taken',
      [join(directory, 'missing.md')]: 'there is no such file',
      [directory]: 'this is not a file',
    };
    const { code, stdout, stderr } = await runDemo(['--json', ...Object.keys(bad), fileOf('good.md', note)], pointTo(api));
    expect(code).to.equal(1);
    for (const [path, reason] of Object.entries(bad)) expect(stderr).to.include(`✘ ${path}: ${reason}`);
    expect(JSON.parse(stdout).documents.map(({ name, chunkCount }: any) => [name, chunkCount])).to.deep.equal([['good.md', 1]]);
  });

  it('exits with 1 when a job fails, says why, and counts no credits for it', async () => {
    const files = [fileOf('broken.pdf', 'no PDF at all'), fileOf('good.md', note)];
    const { code, stdout, stderr } = await runDemo(['--json', ...files], pointTo(api));
    expect(code).to.equal(1);
    expect(stderr).to.match(/✘ broken\.pdf: extract failed: ./);
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

  it('goes on where it was when the live stream breaks', async () => {
    const proxy = await startCuttingProxy(api.url, 2);
    const { code, stdout, stderr } = await runDemo(['--json', fileOf('keeper.md', note)], pointTo(api, proxy.url));
    await proxy.close();
    expect(code, stderr).to.equal(0);
    expect(JSON.parse(stdout).jobs.map(({ status }: any) => status)).to.deep.equal(['succeeded', 'succeeded', 'succeeded']);
    const [first, ...later] = proxy.lastEventIds;
    expect(first).to.equal(undefined);
    expect(later).to.have.length.greaterThan(0);
    expect(later.filter((id) => !id)).to.deep.equal([]);
  });

  it('ends at once on Ctrl-C, with 130', async () => {
    const demo = startDemo(['--verbose'], pointTo(api));
    await demo.printed(/live stream/);
    demo.child.kill('SIGINT');
    expect(await demo.exited).to.deep.equal({ code: 130, signal: null });
    expect(demo.stderr()).to.equal('');
  });
});

describe('npm run demo, at a service that takes Word documents', () => {
  let ai: AiService;
  let directory: string;
  const { api } = useApi({
    async env() {
      ai = await startAiService({ EXTRA_CONTENT_TYPES: 'docx' });
      return { AI_SERVICE_URL: ai.url, SERVICE_TOKEN: token, EXTRA_CONTENT_TYPES: 'docx', SEARCH_DEFAULT_MODE: 'hybrid' };
    },
  });

  before(() => {
    directory = makeTestDirectory();
  });
  after(async () => {
    removeTestDirectory(directory);
    await ai.stop();
  });

  it('takes a Word document', async () => {
    const path = join(directory, 'lease.docx');
    writeFileSync(path, makeDocx(wordParagraph('The tenant pays for the gravel of the drive.')));
    const { code, stdout, stderr } = await runDemo(['--query', 'gravel', path], pointTo(api));
    expect(code, stderr).to.equal(0);
    expect(stdout).to.match(/\nQuestions, asked by meaning and by words \(hybrid, local-hash-256\)\n[\s\S]*lease\.docx/);
    expect(stdout).to.include('pays for the «gravel» of the drive');
  });
});
