import { appendFileSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { glob } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { createClient } from '../../client/index.ts';
import { until } from '../support/processes.ts';
import { noteText } from '../support/run-secrets.ts';
import { useApi } from '../support/use-api.ts';
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
