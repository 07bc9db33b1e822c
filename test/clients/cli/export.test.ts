import { appendFileSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { glob } from 'node:fs/promises';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { expect } from 'chai';
import { exportDocuments } from '../../../clients/typescript/cli/export/export-documents.ts';
import { type Client, createClient, type Document, SheafError } from '../../../clients/typescript/index.ts';
import { toRetries } from '../../../clients/typescript/retry.ts';
import { makeTestDirectory, removeTestDirectory } from '../../support/directories.ts';
import { until } from '../../support/processes.ts';
import { noteText } from '../../support/run-secrets.ts';
import { useApi } from '../../support/use-api.ts';
import { asOwner, type Cli, createCli } from './support.ts';

const summary = { exported: 0, unchanged: 0, skipped: 0, failed: 0 };

describe('sheaf export', () => {
  const { api, tenant } = useApi({ check: 'at the end', tenant: 'of each test' });
  let cli: Cli;
  let folder: string;

  beforeEach(() => {
    cli = createCli(asOwner(api, tenant));
    folder = join(cli.directory, 'out');
  });
  afterEach(() => cli.remove());

  const run = (...args: string[]) => cli.run(['export', folder, '--workspace', 'main', '--json', ...args]);
  const read = (path: string) => readFileSync(join(folder, path), 'utf8');
  const catalog = () =>
    read('documents.jsonl')
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line));
  const lineCount = () => read('documents.jsonl').split('\n').length - 1;
  const upload = (name: string, text: string) => {
    noteText(text);
    return api.upload(tenant, { name, bytes: text });
  };
  async function files(): Promise<string[]> {
    const found = await Array.fromAsync(glob('**/*', { cwd: folder, withFileTypes: true }));
    return found
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1))
      .sort();
  }

  it('writes originals under their names, texts, and what else is known of them', async () => {
    const client = createClient({ url: api.url, token: tenant.owner.token });
    const text = 'The bees are counted in spring.';
    noteText(text);
    const { id } = await client.uploadDocument({
      ...{ workspaceId: tenant.workspaceId, file: new TextEncoder().encode(text), contentType: 'text/plain' },
      ...{ name: 'notes/2026/bees.txt', tags: ['field'], metadata: { hive: 3 } },
    });
    await upload('plain.md', '# Not extracted');
    const job = await client.jobs.create({ kind: 'document.extract', documentId: id });
    await client.waitForJob(job.id);
    const { code, json, stderr } = await run();
    expect(code, stderr).to.equal(0);
    expect(json.pop()).to.deep.equal({ ...summary, exported: 2 });
    expect(json.map(({ status }) => status)).to.deep.equal(['exported', 'exported']);
    const paths = ['documents.jsonl', 'originals/notes/2026/bees.txt', 'originals/plain.md', 'texts/notes/2026/bees.txt.txt'];
    expect(await files()).to.deep.equal(paths);
    expect([read('originals/notes/2026/bees.txt'), read('texts/notes/2026/bees.txt.txt')]).to.deep.equal([text, text]);
    const [bees, plain] = catalog().sort((a, b) => a.name.localeCompare(b.name));
    expect(bees).to.deep.include({ id, tags: ['field'], metadata: { hive: 3 }, original: paths[1], text: paths[3] });
    expect(bees.sha256).to.match(/^[0-9a-f]{64}$/);
    expect(plain).to.include({ name: 'plain.md', text: null });
    expect((await run('--tag', 'other')).json).to.deep.equal([summary]);
  });

  it('fetches only what is new, has changed or is not there any more', async () => {
    const { id } = await upload('a.txt', 'The first.');
    await upload('b.txt', 'The second.');
    await run();
    expect((await run()).json.pop()).to.deep.equal({ ...summary, unchanged: 2 });
    await upload('c.txt', 'The third.');
    rmSync(join(folder, 'originals/b.txt'));
    expect((await run()).json.pop()).to.deep.equal({ ...summary, exported: 2, unchanged: 1 });
    expect(read('originals/b.txt')).to.equal('The second.');
    const client = createClient({ url: api.url, token: tenant.owner.token });
    await client.waitForJob((await client.jobs.create({ kind: 'document.extract', documentId: id })).id);
    expect((await run()).json.pop()).to.deep.equal({ ...summary, exported: 1, unchanged: 2 });
    expect(read('texts/a.txt.txt')).to.equal('The first.');
    rmSync(join(folder, 'texts/a.txt.txt'));
    await run();
    expect(read('texts/a.txt.txt')).to.equal('The first.');
    await client.documents.update({ id, tags: ['changed'] });
    await run();
    expect(catalog().findLast((line) => line.id === id).tags).to.deep.equal(['changed']);
    expect((await run()).json.pop()).to.deep.equal({ ...summary, unchanged: 3 });
  });

  it('overwrites no file, keeps documents of one name apart, and none leaves the folder', async () => {
    mkdirSync(join(folder, 'originals'), { recursive: true });
    writeFileSync(join(folder, 'originals/mine.txt'), 'Not of the service.');
    writeFileSync(join(folder, 'originals/same.txt'), 'The same.');
    const names = [
      'mine.txt',
      'same.txt',
      'twice.txt',
      'twice.txt',
      'TWICE.txt',
      '../../escape.txt',
      '/etc/passwd',
      'a',
      'a/b',
      'CON',
      '.hidden',
    ];
    const ids: Record<string, string> = {};
    for (const [index, name] of names.entries())
      ids[index] = (await upload(name, name === 'same.txt' ? 'The same.' : `The document ${index}.`)).id;
    await upload(`${'ä'.repeat(190)}.txt`, 'A long name.');
    const { code, json, stderr } = await run('--concurrency', '8');
    expect(code, stderr).to.equal(0);
    expect(json.pop()).to.deep.equal({ ...summary, exported: 12 });
    expect(read('originals/mine.txt')).to.equal('Not of the service.');
    const lines = catalog();
    expect(new Set(lines.map(({ original }) => original)).size).to.equal(12);
    for (const { original, id } of lines) {
      expect(original).to.match(/^originals\/(?!.*\.\.\/)[^:]+$/);
      const index = Object.keys(ids).find((key) => ids[key] === id);
      const name = names[Number(index)];
      expect(read(original)).to.equal(index === undefined ? 'A long name.' : name === 'same.txt' ? 'The same.' : `The document ${index}.`);
    }
    const of = (index: number) => lines.find(({ id }) => id === ids[index]).original;
    expect([of(0), of(1)]).to.deep.equal([`originals/${ids[0]}/mine.txt`, 'originals/same.txt']);
    expect([of(5), of(6), of(9), of(10)]).to.deep.equal([
      'originals/__/__/escape.txt',
      'originals/etc/passwd',
      'originals/_CON',
      'originals/_hidden',
    ]);
    expect((await run()).json.pop()).to.deep.equal({ ...summary, unchanged: 12 });
    expect((await files()).filter((path) => path.endsWith('.part'))).to.deep.equal([]);
  });

  it('goes on after kill -9, also in the middle of a line, with nothing twice', async function () {
    this.timeout(120_000);
    const count = 60;
    for (let i = 0; i < count; i++) await upload(`${i}.txt`, `The document ${i} of many.`);
    const { child, ended } = cli.start(['export', folder, '--workspace', 'main', '--concurrency', '1']);
    await until(() => existsSync(join(folder, 'documents.jsonl')) && lineCount() > 5);
    child.kill('SIGKILL');
    expect(await ended).to.include({ code: null });
    const before = lineCount();
    expect(before, 'the test kills in the middle').to.be.below(count);
    appendFileSync(join(folder, 'documents.jsonl'), '{"id":"half of a li');
    const { code, json } = await run();
    expect(code).to.equal(0);
    expect(json.pop()).to.deep.equal({ ...summary, exported: count - before, unchanged: before });
    expect(
      catalog()
        .map(({ original }) => original)
        .sort(),
    ).to.deep.equal(Array.from({ length: count }, (_, i) => `originals/${i}.txt`).sort());
    expect((await files()).filter((path) => path.startsWith('originals/'))).to.have.length(count);
  });

  it('mends a line that a full disk has cut, and fetches what it was about', async () => {
    for (const name of ['a', 'b', 'c']) await upload(`${name}.txt`, `The text ${name}.`);
    await run();
    const lines = read('documents.jsonl').split('\n');
    // The line that follows began right behind the cut.
    writeFileSync(join(folder, 'documents.jsonl'), [lines[0]?.slice(0, 80), lines[1], '\n', lines[2], '\n'].join(''));
    const { code, json } = await run();
    expect(code).to.equal(0);
    expect(json.pop()).to.deep.equal({ ...summary, exported: 2, unchanged: 1 });
    expect(
      catalog()
        .map(({ name }) => name)
        .sort(),
    ).to.deep.equal(['a.txt', 'b.txt', 'c.txt']);
    expect((await run()).json.pop()).to.deep.equal({ ...summary, unchanged: 3 });
  });

  it('says which documents it could not fetch, goes on, and exits 5', async () => {
    await upload('good.txt', 'Good.');
    const { id } = await upload('lost.txt', 'Lost by the store.');
    const { object_key: key } = await api.database.db
      .selectFrom('document')
      .select('object_key')
      .where('id', '=', id)
      .executeTakeFirstOrThrow();
    rmSync(join(api.stack.dataDir, 'objects', key), { force: true });
    const { code, json, stderr } = await run();
    expect(code).to.equal(5);
    expect(json.pop()).to.deep.equal({ ...summary, exported: 1, failed: 1 });
    expect(json.find(({ documentId }) => documentId === id).error.message).to.match(/could not be fetched: .*404/);
    expect(stderr).to.match(/1 of 2 files were not exported/);
    const wrong = await cli.run(['export', join(folder, 'documents.jsonl'), '--workspace', 'main']);
    expect(wrong.code).to.equal(1);
  });
});

describe('An export', () => {
  const content = 'The same bytes.';
  let directory: string;
  let store: ReturnType<typeof createServer>;
  /** What the store does at each request of a document; it sends what was uploaded after the last. */
  let faults: Record<string, ((res: ServerResponse) => unknown)[]>;
  let links: string[];
  let texts: Record<string, string>;
  let deleted: string[];
  /** What is no more as it was listed. */
  let replaced: Record<string, Document>;

  beforeEach(async () => {
    directory = makeTestDirectory();
    [faults, links, texts, deleted, replaced] = [{}, [], {}, [], {}];
    store = createServer((req, res) => {
      const fault = faults[(req.url ?? '').split('/')[1] ?? '']?.shift();
      if (fault) fault(res);
      else res.end(content);
    });
    await new Promise<void>((resolve) => store.listen(0, '127.0.0.1', resolve));
  });
  afterEach(async () => {
    store.closeAllConnections();
    await new Promise((resolve) => store.close(resolve));
    removeTestDirectory(directory);
  });

  const documentOf = (id: string, more: Partial<Document> = {}) =>
    ({ id, name: 'a.txt', size: content.length, updatedAt: '1', extracted: { at: '1' }, ...more }) as Document;
  const read = (path: string) => readFileSync(join(directory, path), 'utf8');
  const lineOf = (id: string) => {
    const lines = read('documents.jsonl').trimEnd().split('\n');
    return lines.map((line) => JSON.parse(line)).findLast((line) => line.id === id);
  };

  /** Exports documents of a service of which there is only this; returns what became of each, and how many bytes were counted. */
  async function run(items: Document[], { attempts = 4, textsAtOnce = 1 } = {}) {
    const met = Promise.withResolvers<void>();
    let asked = 0;
    const expectThere = (id: string) => {
      if (deleted.includes(id)) throw new SheafError('NOT_FOUND', 'There is no such document.', { status: 404 });
    };
    const { port } = store.address() as AddressInfo;
    const documents = {
      list: async () => ({ items, nextCursor: null }),
      async get({ id }: { id: string }) {
        expectThere(id);
        return replaced[id] ?? items.find((item) => item.id === id);
      },
      async text({ id }: { id: string }) {
        asked += 1;
        if (asked === textsAtOnce) met.resolve();
        await met.promise;
        return { text: texts[id] ?? null };
      },
      async downloadUrl({ id }: { id: string }) {
        expectThere(id);
        return { url: `http://127.0.0.1:${port}/${id}/${links.push(id)}` };
      },
    };
    const outcomes: Record<string, any> = {};
    let receivedBytes = 0;
    await exportDocuments({
      ...{ client: { documents } as unknown as Client, retries: toRetries({ attempts, baseDelayMs: 1 }), directory, tags: undefined },
      ...{ organizationId: 'o', workspaceId: 'w', concurrency: 4, stopping: new AbortController().signal },
      onReceived: (bytes) => (receivedBytes += bytes),
      onOutcome: (outcome) => (outcomes[outcome.documentId] = outcome),
    });
    return { outcomes, receivedBytes, statuses: Object.fromEntries(Object.entries(outcomes).map(([id, { status }]) => [id, status])) };
  }

  it('fetches a document again that breaks off or is refused for a while, each time by a new link', async () => {
    faults.a = [
      (res) => res.writeHead(503).end(),
      (res) => res.writeHead(429, { 'retry-after': '0' }).end(),
      (res) => res.destroy(),
      (res) => res.writeHead(200, { 'content-length': content.length }).write('The', () => res.destroy()),
      // As through a proxy that ends what its own connection did not.
      (res) => res.end('The same'),
    ];
    faults.b = Array(9).fill((res: ServerResponse) => res.writeHead(503).end());
    faults.c = [(res) => res.writeHead(403).end()];
    const { statuses, outcomes, receivedBytes } = await run(
      ['a', 'b', 'c', 'd'].map((id) => documentOf(id, { name: id })),
      { attempts: 6 },
    );
    expect(statuses).to.deep.equal({ a: 'exported', b: 'failed', c: 'failed', d: 'exported' });
    expect([outcomes.b, outcomes.c].map(({ error }) => error.message)).to.deep.equal([
      'It could not be fetched: the response was 503.',
      'It could not be fetched: the response was 403.',
    ]);
    expect(['a', 'b', 'c', 'd'].map((id) => links.filter((link) => link === id).length)).to.deep.equal([6, 6, 1, 1]);
    expect([read('originals/a'), receivedBytes]).to.deep.equal([content, 2 * content.length]);
  });

  it('leaves out a document that is deleted after its link was made', async () => {
    faults.a = [
      (res) => {
        deleted.push('a');
        res.writeHead(404).end();
      },
    ];
    expect((await run([documentOf('a')])).statuses).to.deep.equal({ a: 'skipped' });
  });

  it('fetches the content that a document has now, if that was replaced after it was listed', async () => {
    const next = 'Other bytes, and more of them.';
    const replace = (id: string) => (replaced[id] = documentOf(id, { name: id, size: next.length, updatedAt: '2', version: 2 }));
    replace('a');
    faults.a = Array(9).fill((res: ServerResponse) => res.end(next));
    // The bytes go between its link and the fetch.
    faults.b = [
      (res) => {
        replace('b');
        res.writeHead(404).end();
      },
      (res) => res.end(next),
    ];
    const { statuses, receivedBytes } = await run(['a', 'b'].map((id) => documentOf(id, { name: id, version: 1 })));
    expect(statuses).to.deep.equal({ a: 'exported', b: 'exported' });
    expect(receivedBytes).to.equal(2 * next.length);
    for (const id of ['a', 'b']) {
      expect(read(`originals/${id}`)).to.equal(next);
      expect(lineOf(id)).to.include({ size: next.length, updatedAt: '2', version: 2 });
    }
  });

  it('keeps the texts of documents apart whose originals are one file', async () => {
    texts = { a: 'One text.', b: 'One text.', c: 'Another text.', d: 'Another text.' };
    const all = Object.keys(texts);
    for (const at of ['1', '2', '3']) {
      // The second time only of one of them something else is read.
      if (at === '2') texts.a = 'Read anew.';
      const items = all.map((id) => documentOf(id, at === '1' || id !== 'a' ? {} : { extracted: { at: '2' } as Document['extracted'] }));
      const { statuses } = await run(items, { textsAtOnce: at === '1' ? all.length : 1 });
      const status = (id: string) => (at === '1' || (at === '2' && id === 'a') ? 'exported' : 'unchanged');
      expect(statuses).to.deep.equal(Object.fromEntries(all.map((id) => [id, status(id)])));
      expect(all.map((id) => lineOf(id).original)).to.deep.equal(all.map(() => 'originals/a.txt'));
      expect(Object.fromEntries(all.map((id) => [id, read(lineOf(id).text)]))).to.deep.equal(texts);
    }
    // Nothing is left of what was not whole.
    const parts = await Array.fromAsync(glob('**/{.*,*}.part', { cwd: directory }));
    expect(parts).to.deep.equal([]);
  });
});
