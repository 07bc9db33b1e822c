import { mkdirSync, readFileSync, utimesSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect } from 'chai';
import { deleteOrganizationObjects } from '../../domain/organizations/delete-organization.ts';
import { deleteObjectBatch } from '../../domain/stored-objects/delete-object-batch.ts';
import { findOrphanedObjects, type OrphanSweep } from '../../domain/stored-objects/find-orphaned-objects.ts';
import { findStop, listOrphans } from '../../domain/stored-objects/orphan-sweep-stop.ts';
import { orphansCommand } from '../../ops/commands/orphans.ts';
import type { OpsContext } from '../../ops/context.ts';
import { createTestDatabase } from '../support/database.ts';
import { useLocalStore } from '../support/use-local-store.ts';

const old = new Date(Date.now() - 2 * 24 * 60 * 60 * 1_000);

describe('The sweep of orphaned objects', () => {
  const own = useLocalStore();
  beforeEach(async () => {
    for (const id of ['one', 'two']) {
      await own.db.insertInto('organization').values({ id, name: id, slug: id, createdAt: new Date() }).execute();
      await own.db.insertInto('workspace').values({ id, organization_id: id, name: id, slug: id }).execute();
    }
  });

  function store(organization: string, ids: string[]): void {
    for (const id of ids) {
      const path = join(own.directory, organization, id);
      mkdirSync(dirname(path), { recursive: true });
      writeFileSync(path, 'x');
      utimesSync(path, old, old);
    }
  }
  const names = (prefix: string, count: number) => Array.from({ length: count }, (_, n) => `${prefix}-${n}`);
  async function storeWithRows(organization: string, ids: string[]): Promise<void> {
    store(organization, ids);
    const place = { organization_id: organization, workspace_id: organization, name: 'a.txt', content_type: 'text/plain', size_bytes: 1 };
    const rows = ids.map((id) => ({ ...place, id, status: 'ready' as const, object_key: `${organization}/${id}` }));
    await own.db.insertInto('document').values(rows).execute();
  }
  const sweep = (before?: OrphanSweep, onProgress: (sweep: OrphanSweep) => void = () => {}, signal = new AbortController().signal) =>
    findOrphanedObjects(own.db, own.storage, { before, onProgress, signal });
  const failureOf = (work: Promise<unknown>): Promise<Error> =>
    work.then(
      () => new Error('it did not fail'),
      (error) => error,
    );
  const toDelete = async () => (await own.db.selectFrom('object_to_delete').select('key').orderBy('key').execute()).map(({ key }) => key);

  it('lets a few go, also in a small store', async () => {
    await storeWithRows('one', names('kept', 3));
    store('one', names('stray', 10));
    expect(await sweep()).to.equal(10);
    expect(await toDelete()).to.deep.equal(names('one/stray', 10));
    expect(await listOrphans(own.db, 10)).to.deep.equal([]);
    store('two', names('stray', 11));
    expect((await failureOf(sweep())).message).to.match(/^11 of 24 /);
  });

  it('stops at more than one in a hundred and deletes nothing, until an operator lets it delete so many', async () => {
    await storeWithRows('one', names('kept', 1_080));
    store('two', names('stray', 12));
    const stopped = await failureOf(sweep());
    expect(stopped.name).to.equal('OrphanSweepStopped');
    expect(stopped.message).to.match(/^12 of 1092 stored objects have no document: nothing is deleted/);
    expect(await toDelete()).to.deep.equal([]);
    expect(await findStop(own.db)).to.include({ found: 12, checked: 1_092, allowed: 0 });
    expect(await listOrphans(own.db, 2)).to.deep.equal(['two/stray-0', 'two/stray-1']);

    const said: string[] = [];
    const command = (...args: string[]) =>
      orphansCommand.run(args, { db: own.db, print: (line: string) => said.push(line) } as unknown as OpsContext);
    expect((await failureOf(command())).message).to.match(/^Nothing is deleted until you say so/);
    expect(said.slice(0, 2).join('\n')).to.match(/^12 of 1092 stored objects have no document .*\n {2}two\/stray-0$/);
    await command('--go-on');
    expect(said.at(-1)).to.equal('The next housekeeping may delete 12.');
    expect(await findStop(own.db)).to.include({ allowed: 12 });
    store('two', ['one-more']);
    expect((await failureOf(sweep())).message).to.match(/^13 of 1093 /);
    expect(await findStop(own.db)).to.include({ found: 13, allowed: 0 });
    await command('--go-on');
    const audited = own.db.selectFrom('audit_entry').select('metadata').where('action', '=', 'deployment.allowOrphanSweep');
    expect((await audited.orderBy('created_at').execute()).map(({ metadata }) => metadata)).to.deep.equal([
      { checked: 1092, found: 12 },
      { checked: 1093, found: 13 },
    ]);
    expect(await sweep()).to.equal(13);
    expect(await toDelete()).to.have.lengthOf(13);
    expect(await findStop(own.db)).to.equal(undefined);
  });

  it('goes on by itself once the rows are back, and counts nothing that is to be deleted anyway', async () => {
    await storeWithRows('one', names('kept', 500));
    store('two', names('stray', 20));
    expect((await failureOf(sweep())).message).to.match(/^20 of 520 /);
    await storeWithRows('two', names('stray', 15));
    await own.db.insertInto('object_to_delete').values({ key: 'two/stray-15', organization_id: 'two' }).execute();
    expect(await sweep()).to.equal(4);
    expect(await findStop(own.db)).to.equal(undefined);
  });

  it('stops at more than a thousand, however many objects there are', async () => {
    const many = { checked: 200_000, found: 0 };
    store('one', names('stray', 1_000));
    expect(await sweep(many)).to.equal(1_000);
    expect(await toDelete()).to.have.lengthOf(1_000);
    store('two', names('stray', 1_001));
    expect((await failureOf(sweep(many))).message).to.match(/^1001 of 202001 /);
    expect(await toDelete()).to.have.lengthOf(1_000);
  });

  it('spares an object whose row comes while it runs', async () => {
    store('one', names('stray', 3));
    await storeWithRows('two', names('kept', 1_000));
    const list = own.storage.list.bind(own.storage);
    own.storage.list = async function* (...input) {
      yield* list(...input);
      await storeWithRows('one', ['stray-0']);
    };
    expect(await sweep()).to.equal(3);
    expect(await toDelete()).to.deep.equal(['one/stray-1', 'one/stray-2']);
  });

  it('goes on where it was broken off, and counts nothing twice', async () => {
    await storeWithRows('one', names('kept', 1_100));
    store('two', names('stray', 5));
    const stop = new AbortController();
    let reached: OrphanSweep | undefined;
    const broken = sweep(
      undefined,
      (progress) => {
        reached = progress;
        stop.abort();
      },
      stop.signal,
    );
    expect((await failureOf(broken)).name).to.equal('AbortError');
    expect(reached).to.include({ checked: 500, found: 0 });
    expect(reached?.reached).to.match(/^one\/kept-/);
    const listed: (string | undefined)[] = [];
    const list = own.storage.list.bind(own.storage);
    own.storage.list = (prefix, from) => {
      listed.push(from);
      return list(prefix, from);
    };
    expect(await sweep(reached)).to.equal(5);
    expect(listed).to.deep.equal([reached?.reached]);
  });

  it('stops although a killed process noted orphans that it did not report', async () => {
    await storeWithRows('one', names('kept', 500));
    store('stray', names('stray', 20));
    await storeWithRows('two', names('more', 600));
    const stop = new AbortController();
    const reports: OrphanSweep[] = [];
    const onProgress = (progress: OrphanSweep) => {
      reports.push(progress);
      if (reports.length === 2) stop.abort();
    };
    await failureOf(sweep(undefined, onProgress, stop.signal));
    expect(reports.map(({ found }) => found)).to.deep.equal([0, 20]);
    expect((await failureOf(sweep(reports[0]))).message).to.match(/^20 of 1620 stored objects/);
    expect(await toDelete()).to.deep.equal([]);
  });

  it('and every other deletion refuse a store of another deployment, and say which two', async () => {
    store('one', ['stray']);
    expect(await sweep()).to.equal(1);
    const owner = readFileSync(join(own.directory, '.deployment'), 'utf8');
    const wrong = await createTestDatabase();
    await wrong.db.updateTable('deployment').set({ id: 'wrong' }).execute();
    const nobody = { onProgress() {}, signal: new AbortController().signal };
    for (const deletion of [
      findOrphanedObjects(wrong.db, own.storage, { before: undefined, ...nobody }),
      deleteObjectBatch(wrong.db, own.storage, { organizationId: 'one' }, () => {}),
      deleteOrganizationObjects(wrong.db, own.storage, 'one', { before: { deleted: 0, failed: 0 }, ...nobody }),
    ]) {
      const { name, message } = await failureOf(deletion);
      expect(name).to.equal('StoreOfAnotherDeployment');
      expect(message).to.include(`belongs to deployment ${owner}`).and.to.include('of deployment wrong');
    }
    expect(await own.storage.stat('one/stray')).to.deep.equal({ sizeBytes: 1 });
    await wrong.drop();
    // Its own deployment goes on.
    expect(await deleteObjectBatch(own.db, own.storage, { organizationId: 'one' }, () => {})).to.deep.equal({
      deleted: 1,
      failing: 0,
      nextDueMs: null,
    });
    expect(await own.storage.stat('one/stray')).to.equal(undefined);
  });
});
