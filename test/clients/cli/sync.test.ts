import { mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { planSync } from '../../../clients/typescript/cli/sync/plan-sync.ts';
import { createClient, type Document } from '../../../clients/typescript/index.ts';
import { nightly } from '../../support/nightly.ts';
import { until } from '../../support/processes.ts';
import { noteText } from '../../support/run-secrets.ts';
import { useApi } from '../../support/use-api.ts';
import { asOwner, type Cli, createCli } from './support.ts';

const none = { uploaded: 0, replaced: 0, moved: 0, unchanged: 0, deleted: 0, skipped: 0, failed: 0 };

describe('sheaf sync', () => {
  const { api, tenant } = useApi({ check: 'at the end', tenant: 'of each test' });
  let cli: Cli;
  let folder: string;

  beforeEach(() => {
    cli = createCli(asOwner(api, tenant));
    folder = join(cli.directory, 'folder');
    mkdirSync(join(folder, 'deep'), { recursive: true });
  });
  afterEach(() => cli.remove());

  function write(name: string, text: string): void {
    noteText(text);
    writeFileSync(join(folder, name), text);
  }
  function writeFiles(count: number, about = 'mirror'): void {
    for (let i = 0; i < count; i++) write(`deep/note-${i}.md`, `# Note ${i}\nThe ${about} ${i} is cleaned on day ${i}.`);
  }

  const sync = (...args: string[]) => ['sync', folder, '--workspace', tenant.workspaceId, '--json', ...args];
  const client = () => createClient({ url: api.url, token: tenant.owner.token });
  const documents = async () => {
    const { organizationId, workspaceId } = tenant;
    return (await client().documents.list({ organizationId, workspaceId, limit: 200 })).items;
  };
  const named = async (name: string) => (await documents()).find((document) => document.name === name && !document.replaces) as Document;
  const names = async () => (await documents()).map(({ name }) => name).sort();
  const counts = async (...args: string[]) => {
    const { code, json, stderr } = await cli.run(sync(...args));
    expect(code, stderr).to.equal(0);
    return json.pop();
  };
  /** Until nothing waits to replace a document. */
  const settled = () => until(async () => (await documents()).every(({ replaces, status }) => !replaces && status === 'ready'));

  it('uploads what is new, replaces what changed, moves what was renamed, deletes what is gone, and touches nothing else', async () => {
    writeFiles(8);
    write('a.md', 'The first.');
    const other = await api.upload(tenant, { name: 'by-hand.md', bytes: 'Uploaded by a person.' });
    expect(await counts()).to.deep.equal({ ...none, uploaded: 9 });
    expect(await counts()).to.deep.equal({ ...none, unchanged: 9 });
    const before = await documents();
    const [first, kept] = [await named('a.md'), await named('deep/note-7.md')];
    await client().documents.update({ id: first.id, tags: [...first.tags, 'mine'] });
    write('a.md', 'The first, changed.');
    write('new.md', 'New.');
    renameSync(join(folder, 'deep/note-0.md'), join(folder, 'renamed.md'));
    rmSync(join(folder, 'deep/note-1.md'));
    expect(await counts()).to.deep.equal({ ...none, uploaded: 1, replaced: 1, moved: 1, unchanged: 6, deleted: 1 });
    await until(async () => (await named('a.md')).version === 2);
    await settled();
    const gone = before.find(({ name }) => name === 'deep/note-1.md')?.id;
    const ids = (await documents()).map(({ id }) => id);
    expect(ids).to.include.members(before.map(({ id }) => id).filter((id) => id !== gone));
    expect(ids).to.have.length(10).and.not.include(gone);
    expect(await named('a.md')).to.deep.include({ id: first.id, tags: [...first.tags, 'mine'], metadata: { syncPath: 'a.md' } });
    expect((await client().documents.text({ id: first.id })).text).to.equal('The first, changed.');
    expect((await named('renamed.md')).metadata).to.deep.equal({ syncPath: 'renamed.md' });
    expect(await named('deep/note-7.md')).to.deep.equal(kept);
    expect((await named('by-hand.md')).id).to.equal(other.id);
    expect(await counts()).to.deep.equal({ ...none, unchanged: 9 });
  });

  it('stops if more than a fifth would go, in a dry run and without, until it is told', async () => {
    writeFiles(10);
    await counts();
    for (let i = 0; i < 2; i++) rmSync(join(folder, `deep/note-${i}.md`));
    const dry = await cli.run(sync('--dry-run'));
    expect(dry.code).to.equal(0);
    expect(dry.json).to.have.deep.members([0, 1].map((i) => ({ action: 'delete', path: `deep/note-${i}.md` })));
    rmSync(join(folder, 'deep/note-2.md'));
    write('new.md', 'New.');
    for (const args of [[], ['--dry-run']]) {
      const { code, stderr } = await cli.run(sync(...args));
      expect(code).to.equal(1);
      expect(JSON.parse(stderr).error.message).to.match(
        /^The files of 3 of the 10 documents are gone\. Nothing was changed\..*--delete-more/,
      );
      expect(await documents()).to.have.length(10);
    }
    expect(await counts('--delete-more')).to.deep.equal({ ...none, uploaded: 1, unchanged: 7, deleted: 3 });
    // A folder that is not mounted is an empty one.
    rmSync(folder, { recursive: true });
    expect(await cli.run(sync())).to.include({ code: 1 });
    mkdirSync(folder);
    expect(await cli.run(sync())).to.include({ code: 1 });
    expect(await documents()).to.have.length(8);
  });

  it('leaves out hidden files, links, empty ones and kinds that are not taken, and says which', async () => {
    write('a.md', 'Here.');
    write('empty.md', '');
    write('book.docx', 'not taken by this deployment');
    write('program.exe', 'no document');
    write('.hidden.md', 'not to be seen');
    symlinkSync('/etc/hostname', join(folder, 'link.txt'));
    const dry = (await cli.run(sync('--dry-run').filter((word) => word !== '--json'))).stdout;
    expect(dry.split('\n').sort().filter(Boolean)).to.deep.equal([
      `skip      ${folder}/empty.md`,
      `skip      ${folder}/program.exe`,
      `upload    ${folder}/a.md`,
      `upload    ${folder}/book.docx`,
    ]);
    expect(await documents()).to.deep.equal([]);
    const { code, stdout, stderr } = await cli.run(sync().filter((word) => word !== '--json'));
    expect({ code, stdout }).to.deep.equal({
      code: 0,
      stdout: '1 uploaded, 0 replaced, 0 moved, 0 unchanged, 0 deleted, 3 skipped, 0 failed.\n',
    });
    const [, said = ''] = /^Skipped: (.*)\.\n$/.exec(stderr) ?? [];
    expect(said.split(', ').sort()).to.deep.equal(['.docx (1)', '.exe (1)', 'empty (1)']);
    // A document whose file is empty for a while stays.
    write('a.md', '');
    expect(await counts()).to.deep.equal({ ...none, skipped: 4 });
    expect(await names()).to.deep.equal(['a.md']);
    // So do those whose file, or a folder above it, is a link now.
    write('deep/b.md', 'Below.');
    expect(await counts()).to.deep.equal({ ...none, uploaded: 1, skipped: 4 });
    for (const path of ['a.md', 'deep']) {
      renameSync(join(folder, path), join(cli.directory, path));
      symlinkSync(join(cli.directory, path), join(folder, path));
    }
    expect(await counts()).to.deep.equal({ ...none, skipped: 3 });
    expect(await names()).to.deep.equal(['a.md', 'deep/b.md']);
  });

  it('deletes nothing of a folder that cannot be read, and exits 5', async () => {
    for (let i = 0; i < 12; i++) write(`a-${i}.md`, `Above ${i}.`);
    await counts();
    const { tags } = await named('a-0.md');
    const bytes = new TextEncoder().encode('Read before.');
    const inside = { workspaceId: tenant.workspaceId, contentType: 'text/markdown', file: bytes, tags } as const;
    for (const path of ['b\ufffdcher/inside.md', 'b\ufffdch/inside.md'])
      await client().uploadDocument({ ...inside, name: path, metadata: { syncPath: path } });
    // Node.js reads a name that is not UTF-8 so, and finds nothing under it.
    mkdirSync(Buffer.concat([Buffer.from(`${folder}/`), Buffer.from('b\xfccher', 'latin1')]));
    const { code, json } = await cli.run(sync());
    expect(code).to.equal(5);
    expect(json.pop()).to.deep.equal({ ...none, unchanged: 12, deleted: 1, failed: 1 });
    expect(await names())
      .to.include('b\ufffdcher/inside.md')
      .and.to.have.length(13);
  });

  it('knows folders apart, and a folder that moved by its name', async () => {
    writeFiles(1);
    expect(await counts('--source', 'notes')).to.deep.equal({ ...none, uploaded: 1 });
    const moved = join(cli.directory, 'moved');
    renameSync(folder, moved);
    folder = moved;
    expect(await counts('--source', 'notes')).to.deep.equal({ ...none, unchanged: 1 });
    expect(await counts()).to.deep.equal({ ...none, uploaded: 1 });
    expect((await documents()).map(({ tags }) => tags[0]).sort()).to.deep.equal([`sync:${moved}`, 'sync:notes'].sort());
  });

  it('says of a content that cannot be read that it is not, keeps the old one, and takes the next', async () => {
    write('a.txt', 'A page.');
    await counts();
    const { id } = await named('a.txt');
    // No text: a byte that no text has.
    writeFileSync(join(folder, 'a.txt'), Buffer.from([0, 1, 2, 3]));
    expect(await counts()).to.deep.equal({ ...none, replaced: 1 });
    await until(async () => (await documents()).some(({ replaces, failedJob }) => replaces === id && failedJob !== null));
    const { code, json } = await cli.run(sync());
    expect(code).to.equal(5);
    expect(json[0].error.message).to.match(/^its content could not be read: \S/);
    expect(await documents()).to.have.length(2);
    write('a.txt', 'Another page.');
    expect(await counts()).to.deep.equal({ ...none, replaced: 1 });
    await until(async () => (await named('a.txt')).version === 2);
    await settled();
    expect((await documents()).map((document) => document.id)).to.deep.equal([id]);
  });

  it('takes back a content that was replaced or deleted today, under the keys of today', async () => {
    for (const text of ['One.', 'Two.', 'One.', 'Two.']) {
      write('a.md', text);
      await counts();
      await settled();
      expect((await client().documents.get({ id: (await named('a.md')).id })).size).to.equal(4);
    }
    expect((await named('a.md')).version).to.equal(4);
    await client().documents.delete({ id: (await named('a.md')).id });
    expect(await counts()).to.deep.equal({ ...none, uploaded: 1 });
    expect(await names()).to.deep.equal(['a.md']);
  });

  it('makes nothing twice when two run at once, and single what is there twice', async () => {
    writeFiles(12);
    const both = await Promise.all([cli.run(sync()), cli.run(sync())]);
    expect(both.map(({ code }) => code)).to.deep.equal([0, 0]);
    expect(await documents()).to.have.length(12);
    writeFiles(12, 'lens');
    const again = await Promise.all([cli.run(sync()), cli.run(sync())]);
    expect(again.map(({ code, stderr }) => [code, stderr])).to.deep.equal(Array(2).fill([0, '']));
    await settled();
    expect(await documents()).to.have.length(12);
    const text = '# Note 3\nThe lens 3 is cleaned on day 3.';
    const { id, tags, metadata, version } = await named('deep/note-3.md');
    // A third version if the second was read before both had sent it.
    expect(version).to.be.within(2, 3);
    expect((await client().documents.text({ id })).text).to.include('lens 3');
    await client().uploadDocument({
      ...{ workspaceId: tenant.workspaceId, name: 'deep/note-3.md', contentType: 'text/markdown', file: new TextEncoder().encode(text) },
      ...{ tags, metadata },
    });
    expect(await counts()).to.deep.equal({ ...none, unchanged: 12, deleted: 1 });
  });

  it('meets a workspace that takes a content once', async () => {
    await client().workspaces.update({ id: tenant.workspaceId, onDuplicate: 'return' });
    write('a.md', 'The same.');
    write('b.md', 'The same.');
    expect(await counts('--concurrency', '1')).to.deep.equal({ ...none, uploaded: 1, unchanged: 1 });
    const [only] = await documents();
    const [keeper, other] = only?.name === 'a.md' ? ['a.md', 'b.md'] : ['b.md', 'a.md'];
    rmSync(join(folder, keeper));
    expect(await counts()).to.deep.equal({ ...none, moved: 1 });
    expect(await names()).to.deep.equal([other]);
    await client().workspaces.update({ id: tenant.workspaceId, onDuplicate: 'refuse' });
    write('c.md', 'The same.');
    const { code, json } = await cli.run(sync());
    expect(code).to.equal(5);
    expect(json.find(({ status }) => status === 'failed').error.code).to.equal('CONFLICT');
    expect(json.pop()).to.deep.equal({ ...none, unchanged: 1, failed: 1 });
  });

  it('queues a job for what is not searchable yet', async () => {
    writeFiles(2);
    expect(await counts('--index')).to.deep.equal({ ...none, uploaded: 2 });
    await until(async () => (await documents()).every(({ indexedAt }) => indexedAt !== null));
    write('deep/note-0.md', 'The aperture is new.');
    expect(await counts('--index')).to.deep.equal({ ...none, replaced: 1, unchanged: 1 });
    await settled();
    const query = { workspaceId: tenant.workspaceId, query: 'aperture', mode: 'lexical' } as const;
    expect((await client().documents.search(query)).results.map(({ documentName }) => documentName)).to.deep.equal(['deep/note-0.md']);
    const { items } = await client().jobs.list({ organizationId: tenant.organizationId });
    expect(items.map(({ kind }) => kind)).to.deep.equal(Array(3).fill('document.index'));
  });

  it('finishes what is under way at Ctrl-C, exits 130, and goes on with the next run', async () => {
    writeFiles(60);
    const { child, ended } = cli.start(sync('--concurrency', '2'));
    await until(async () => (await documents()).length > 5);
    child.kill('SIGINT');
    const { code, json } = await ended;
    expect(code).to.equal(130);
    const { uploaded } = json.pop();
    expect(uploaded).to.be.within(5, 59);
    expect((await documents()).map(({ status }) => status)).to.deep.equal(Array(uploaded).fill('ready'));
    expect(await counts()).to.deep.equal({ ...none, uploaded: 60 - uploaded, unchanged: uploaded });
  });

  nightly('goes on after kill -9 in each of its parts, with nothing twice', async () => {
    const count = 40;
    writeFiles(count);
    const uploaded = async () => (await documents()).length;
    for (const share of [0.2, 0.6]) await killWhen(async () => (await uploaded()) > count * share);
    expect(await uploaded(), 'the test kills in the middle').to.be.below(count);
    await counts();
    const ids = (await documents()).map(({ id }) => id).sort();
    expect(ids).to.have.length(count);
    // Of 40, 8 may go.
    for (let i = 0; i < count; i++) {
      if (i < 8) rmSync(join(folder, `deep/note-${i}.md`));
      else if (i < 16) renameSync(join(folder, `deep/note-${i}.md`), join(folder, `moved-${i}.md`));
      else write(`deep/note-${i}.md`, `The second note ${i}.`);
    }
    await killWhen(async () => (await uploaded()) < count - 3);
    await killWhen(async () => (await documents()).some(({ replaces, version }) => replaces || version > 1));
    await counts();
    await settled();
    const all = await documents();
    const expected = Array.from({ length: 32 }, (_, i) => (i < 8 ? `moved-${i + 8}.md` : `deep/note-${i + 8}.md`));
    expect(all.map(({ name }) => name).sort()).to.deep.equal(expected.sort());
    expect(ids).to.include.members(all.map(({ id }) => id));
    expect(all.filter(({ version }) => version === 2)).to.have.length(24);
    expect(await counts()).to.deep.equal({ ...none, unchanged: 32 });
  });

  async function killWhen(isTime: () => Promise<boolean>): Promise<void> {
    const { child, ended } = cli.start(sync('--concurrency', '2'));
    await until(isTime);
    child.kill('SIGKILL');
    expect(await ended).to.include({ code: null });
  }
});

describe('The plan of sheaf sync', () => {
  const document = (id: string, sha256: string, more: object = {}) =>
    ({
      id,
      sha256,
      name: 'a.md',
      contentType: 'text/markdown',
      metadata: { syncPath: 'a.md' },
      failedJob: null,
      ...more,
    }) as Partial<Document> as Document;
  const plan = (sha256: string | undefined, documents: Document[]) => {
    const files = sha256 === undefined ? [] : [{ path: '/a.md', name: 'a.md', contentType: 'text/markdown' as const, sha256 }];
    return planSync({ files, passed: [], isGone: () => files.length === 0 }, documents).steps.map((step) => ({
      action: step.action,
      id: 'document' in step ? step.document.id : undefined,
      stale: 'stale' in step ? step.stale.map(({ id }) => id) : [],
    }));
  };
  const old = document('old', 'one');
  const later = document('later', 'two', { replaces: 'old' });

  it('leaves a content alone that is about to be read, and drops one that is not wanted any more', () => {
    expect(plan('two', [later, old])).to.deep.equal([{ action: 'keep', id: 'old', stale: [] }]);
    expect(plan('one', [later, old])).to.deep.equal([{ action: 'keep', id: 'old', stale: ['later'] }]);
    expect(plan('three', [later, old])).to.deep.equal([{ action: 'replace', id: 'old', stale: ['later'] }]);
    expect(plan(undefined, [later, old])).to.deep.equal([{ action: 'delete', id: 'old', stale: ['later'] }]);
  });
});
