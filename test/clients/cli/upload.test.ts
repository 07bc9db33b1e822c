import { mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { forEachAtOnce } from '../../../clients/typescript/cli/at-once.ts';
import { createClient } from '../../../clients/typescript/index.ts';
import { nightly } from '../../support/nightly.ts';
import { until } from '../../support/processes.ts';
import { noteText } from '../../support/run-secrets.ts';
import { useApi } from '../../support/use-api.ts';
import { asOwner, type Cli, createCli } from './support.ts';

const summary = { uploaded: 0, unchanged: 0, skipped: 0, failed: 0 };

describe('sheaf upload', () => {
  const { api, tenant } = useApi({ process: true, check: 'at the end', tenant: 'of each test', env: { WORKER_ENABLED: 'false' } });
  let cli: Cli;
  let folder: string;

  beforeEach(() => {
    cli = createCli(asOwner(api, tenant));
    folder = join(cli.directory, 'folder');
    mkdirSync(join(folder, 'deep', 'deeper'), { recursive: true });
  });
  afterEach(() => cli.remove());

  function writeFiles(count: number, begin = 'note'): void {
    for (let i = 0; i < count; i++) write(`deep/${begin}-${i}.md`, `# ${begin} ${i}\nThe mirror ${i} is cleaned on day ${i}.`);
  }

  function write(name: string, text: string): void {
    noteText(text);
    writeFileSync(join(folder, name), text);
  }

  const upload = (...args: string[]) => ['upload', folder, '--workspace', tenant.workspaceId, '--json', ...args];

  const documents = async () => {
    const client = createClient({ url: api.url, token: tenant.owner.token });
    const { organizationId, workspaceId } = tenant;
    const all = [];
    for (let cursor: string | null | undefined; cursor !== null; ) {
      const page = await client.documents.list({ organizationId, workspaceId, limit: 200, ...(cursor ? { cursor } : {}) });
      all.push(...page.items);
      cursor = page.nextCursor;
    }
    return all;
  };
  const names = async () => (await documents()).map(({ name }) => name).sort();

  it('sends the files of folders under their paths, leaves out what it cannot send, and says what became of each', async () => {
    write('a.md', '# A\nThe first.');
    write('deep/b.TXT', 'The second, deeper.');
    write('deep/deeper/c.csv', 'name,value\nthird,3\n');
    write('program.exe', 'no document');
    write('empty.md', '');
    write('.hidden.md', 'not to be seen');
    symlinkSync('/etc/hostname', join(folder, 'link.txt'));
    const { code, json, stderr } = await cli.run(upload('--tag', 'imported'));
    expect(code, stderr).to.equal(0);
    expect(json.pop()).to.deep.equal({ ...summary, uploaded: 3, skipped: 2 });
    const skipped = json.filter(({ status }) => status === 'skipped');
    expect(skipped.map(({ path }) => path.slice(folder.length + 1)).sort()).to.deep.equal(['empty.md', 'program.exe']);
    expect(await names()).to.deep.equal(['a.md', 'deep/b.TXT', 'deep/deeper/c.csv']);
    for (const { status, tags, contentType, name } of await documents()) {
      expect(status).to.equal('ready');
      expect(tags).to.include('imported');
      expect(contentType).to.equal(name.endsWith('md') ? 'text/markdown' : name.endsWith('csv') ? 'text/csv' : 'text/plain');
    }
  });

  it('goes on past names that are not UTF-8, of files and folders, and exits 5', async () => {
    const odd = (...parts: string[]) => Buffer.concat([Buffer.from(`${folder}/`), Buffer.from(parts.join('/'), 'latin1')]);
    mkdirSync(odd('b\xfccher'));
    writeFileSync(odd('b\xfccher', 'inside.md'), 'Not to be reached.');
    writeFileSync(odd('\xfcber.md'), 'Not to be read.');
    write('a.md', 'The first.');
    write('deep/z.md', 'The last.');
    const { code, json } = await cli.run(upload('--concurrency', '1'));
    expect(code).to.equal(5);
    expect(json.pop()).to.deep.equal({ ...summary, uploaded: 2, failed: 2 });
    const failed = json
      .filter(({ status }) => status === 'failed')
      .map(({ path, error }) => [path.slice(folder.length + 1), error.message]);
    expect(failed.sort()).to.deep.equal([
      ['b\ufffdcher', 'its name is not UTF-8'],
      ['\ufffdber.md', 'its name is not UTF-8'],
    ]);
    expect(await names()).to.deep.equal(['a.md', 'deep/z.md']);
  });

  it('sends the charset of texts, and of nothing else', async () => {
    write('a.csv', 'a,b\n1,2\n');
    write('b.png', 'for a picture');
    expect((await cli.run(upload('--charset', 'windows-1252'))).json.pop()).to.deep.equal({ ...summary, uploaded: 2 });
    const charsets = (await documents()).map(({ name, charset }) => [name, charset]);
    expect(Object.fromEntries(charsets)).to.deep.equal({ 'a.csv': 'windows-1252', 'b.png': null });
    write('c.txt', 'Another text.');
    const { code, json } = await cli.run(upload('--charset', 'martian'));
    expect(code).to.equal(5);
    expect(json.find(({ status }) => status === 'failed').error.message).to.match(/^charset: must be one of utf-8, /);
  });

  it('sends only what is new or has changed, and a content that is there twice once', async () => {
    writeFiles(5);
    expect((await cli.run(upload())).json.pop()).to.deep.equal({ ...summary, uploaded: 5 });
    write('deep/note-1.md', '# Changed\nThe mirror is cleaned every day.');
    write('copy.md', readFileSync(join(folder, 'deep/note-2.md'), 'utf8'));
    write('new.md', 'New for both.');
    write('new-copy.md', 'New for both.');
    expect((await cli.run(upload())).json.pop()).to.deep.equal({ ...summary, uploaded: 2, unchanged: 6 });
    expect(await documents()).to.have.length(7);
  });

  it('has each document indexed once, also where the workspace does so by itself', async () => {
    const client = createClient({ url: api.url, token: tenant.owner.token });
    await client.workspaces.update({ id: tenant.workspaceId, autoProcess: ['document.index'] });
    writeFiles(3);
    expect((await cli.run(upload('--index'))).json.pop()).to.deep.equal({ ...summary, uploaded: 3 });
    expect((await cli.run(upload('--index'))).json.pop()).to.deep.equal({ ...summary, unchanged: 3 });
    const { items } = await client.jobs.list({ organizationId: tenant.organizationId });
    expect(items.map(({ documentId }) => documentId).sort()).to.deep.equal((await documents()).map(({ id }) => id).sort());
  });

  it('stops at the first document if the service does not process documents, with one message', async () => {
    writeFiles(3);
    const { code, json, stderr } = await cli.run(upload('--process', '--concurrency', '1'));
    expect(code).to.equal(1);
    expect(JSON.parse(stderr).error.message).to.equal('The service has no jobs of kind document.process.');
    expect(json).to.deep.equal([{ ...summary }]);
    expect(await documents()).to.have.length(1);
  });

  it('sends a file again whose document was deleted meanwhile', async () => {
    write('a.md', 'Here today.');
    const [first] = (await cli.run(upload())).json;
    await cli.run(['documents', 'delete', first.documentId]);
    const { code, json } = await cli.run(upload());
    expect(code).to.equal(0);
    expect(json.pop()).to.deep.equal({ ...summary, uploaded: 1 });
    expect(json[0].documentId).not.to.equal(first.documentId);
    expect((await documents()).map(({ id }) => id)).to.deep.equal([json[0].documentId]);
  });

  nightly('goes on after kill -9 and a restart of the service, with no document twice', async function () {
    this.timeout(240_000);
    const count = 300;
    writeFiles(count);
    for (const share of [0.2, 0.5]) {
      const { child, ended } = cli.start(upload('--index'));
      await until(async () => (await documents()).length > count * share);
      child.kill('SIGKILL');
      expect(await ended).to.include({ code: null });
    }
    const killed = await documents();
    expect(killed.length, 'the test kills in the middle').to.be.below(count);
    const { child, ended } = cli.start(upload('--index'));
    await until(async () => (await documents()).length > count * 0.7);
    await api.stack.kill('api', 'SIGKILL');
    await api.stack.restart('api');
    const { code, json, stderr } = await ended;
    expect(child.exitCode, stderr).to.equal(0);
    expect(code).to.equal(0);
    const { uploaded, unchanged, failed } = json.pop();
    expect(uploaded + unchanged).to.equal(count);
    expect(failed).to.equal(0);
    const all = await documents();
    expect(all.map(({ name }) => name).sort()).to.deep.equal(Array.from({ length: count }, (_, i) => `deep/note-${i}.md`).sort());
    expect(all.every(({ status }) => status === 'ready')).to.equal(true);
    const { db } = api.database;
    const jobs = await db.selectFrom('job').select('document_id').where('organization_id', '=', tenant.organizationId).execute();
    expect(jobs.map((job) => job.document_id).sort()).to.deep.equal(all.map(({ id }) => id).sort());
    expect((await cli.run(upload('--index'))).json.pop()).to.deep.equal({ ...summary, unchanged: count });
  });

  it('finishes what is under way at Ctrl-C, exits 130, and goes on with the next run', async () => {
    writeFiles(40);
    const { child, ended } = cli.start(upload('--concurrency', '2'));
    await until(async () => (await documents()).length > 10);
    child.kill('SIGINT');
    const { code, json, stderr } = await ended;
    expect(code).to.equal(130);
    expect(JSON.parse(stderr.trim().split('\n').at(-1) ?? '').error.message).to.match(/goes on/);
    const done = json.pop();
    expect(done.uploaded).to.be.within(10, 39);
    expect((await documents()).filter(({ status }) => status === 'ready')).to.have.length(done.uploaded);
    expect((await documents()).length).to.equal(done.uploaded);
    expect((await cli.run(upload())).json.pop()).to.deep.equal({ ...summary, uploaded: 40 - done.uploaded, unchanged: done.uploaded });
  });

  it('says once why it waits for a service that is read-only, and ends at once then', async () => {
    writeFiles(4);
    const { db } = api.database;
    await db.updateTable('deployment').set({ read_only: 'The database moves.' }).execute();
    try {
      const { child, ended } = cli.start(upload());
      let said = '';
      child.stderr?.on('data', (text: string) => (said += text));
      await until(() => said.includes('\n'));
      child.kill('SIGTERM');
      const { code, json, stderr } = await ended;
      expect(code).to.equal(130);
      expect(stderr).to.match(/^Waiting 60 s: SERVICE_UNAVAILABLE: This deployment is read-only: The database moves\. \(request \S+\)\n/);
      expect(stderr.match(/Waiting/g)).to.have.length(1);
      expect(json).to.deep.equal([summary]);
    } finally {
      await db.updateTable('deployment').set({ read_only: null }).execute();
    }
    expect((await cli.run(upload())).json.pop()).to.deep.equal({ ...summary, uploaded: 4 });
  });

  it('goes on past a file that cannot be sent, says why, and exits 5', async () => {
    write('good.md', 'Good.');
    writeFileSync(join(folder, 'large.txt'), Buffer.alloc(30_000_000, 'a'));
    write('book.docx', 'not taken by this deployment');
    const { code, json, stderr } = await cli.run(upload());
    expect(code).to.equal(5);
    expect(json.pop()).to.deep.equal({ ...summary, uploaded: 1, failed: 2 });
    const codes = json.filter(({ status }) => status === 'failed').map(({ error }) => error.code);
    expect(codes.sort()).to.deep.equal(['BAD_REQUEST', 'PAYLOAD_TOO_LARGE']);
    expect(stderr).to.match(/2 of 3 files/);
    const named = await cli.run(['upload', join(folder, 'good.md'), 'package-lock.lock', '--workspace', tenant.workspaceId]);
    expect(named).to.include({ code: 1, stdout: '' });
    expect(named.stderr).to.match(/package-lock.lock is not there/);
  });

  it('goes on past a content that the workspace takes only once', async () => {
    const client = createClient({ url: api.url, token: tenant.owner.token });
    await client.workspaces.update({ id: tenant.workspaceId, onDuplicate: 'refuse' });
    await api.upload(tenant, { name: 'by-hand.md', bytes: 'There before.' });
    write('a.md', 'There before.');
    write('b.md', 'New.');
    const { code, json } = await cli.run(upload('--concurrency', '1'));
    expect(code).to.equal(5);
    expect(json.pop()).to.deep.equal({ ...summary, uploaded: 1, failed: 1 });
    expect(json.find(({ status }) => status === 'failed').error.code).to.equal('CONFLICT');
    expect(await names()).to.deep.equal(['b.md', 'by-hand.md']);
  });

  it('stops at what every file would meet', async () => {
    writeFiles(20);
    const stranger = await api.createTenant();
    const { code, json, stderr } = await cli.run(upload(), { env: { SHEAF_API_KEY: stranger.owner.token } });
    expect(code).to.equal(3);
    expect(json).to.deep.equal([summary]);
    expect(JSON.parse(stderr).error).to.include({ code: 'FORBIDDEN', status: 403 });
    rmSync(folder, { recursive: true });
    expect(await cli.run(upload())).to.include({ code: 1 });
  });
});

describe('Steps of a command', () => {
  it('end what they were to work on when one fails or they are stopped: a folder is closed', async () => {
    const stopping = new AbortController();
    const steps = [() => Promise.reject(new Error('Refused.')), async () => stopping.abort()];
    for (const step of steps) {
      const ended = Promise.withResolvers<void>();
      async function* items() {
        try {
          for (;;) yield 'file';
        } finally {
          ended.resolve();
        }
      }
      await forEachAtOnce(items(), { concurrency: 2, stopping: stopping.signal }, step).catch(() => undefined);
      await ended.promise;
    }
  });
});

describe('sheaf upload --process', () => {
  const { api, tenant } = useApi({
    check: 'at the end',
    env: { WORKER_ENABLED: 'false', EXTRA_JOB_KINDS: 'document.process' },
  });

  it('has each document processed once, where it is not indexed yet', async () => {
    const cli = createCli(asOwner(api, tenant));
    try {
      const path = join(cli.directory, 'a.md');
      writeFileSync(path, 'Processed once.');
      const upload = ['upload', path, '--workspace', tenant.workspaceId, '--json', '--index', '--process'];
      expect((await cli.run(upload)).json.pop()).to.deep.equal({ ...summary, uploaded: 1 });
      expect((await cli.run(upload)).json.pop()).to.deep.equal({ ...summary, unchanged: 1 });
      const { db } = api.database;
      const jobs = () => db.selectFrom('job').select('kind').execute();
      expect(await jobs()).to.deep.equal([{ kind: 'document.process' }]);
      // As housekeeping does with jobs of a month ago.
      await db.deleteFrom('job').execute();
      await db.updateTable('document').set({ indexed_at: new Date() }).execute();
      expect((await cli.run(upload)).json.pop()).to.deep.equal({ ...summary, unchanged: 1 });
      expect(await jobs()).to.deep.equal([]);
    } finally {
      cli.remove();
    }
  });
});
