import { expect } from 'chai';
import { type DocumentSort, documents } from '../../contract/documents.ts';
import type { Tenant } from '../support/api.ts';
import { expectOk } from '../support/requests.ts';
import { callOver } from '../support/transports.ts';
import { useApi } from '../support/use-api.ts';

interface Listed {
  id: string;
  name: string;
  size: number;
  createdAt: string;
}

const sorts = documents.list.query.shape.sort.unwrap().options;
/** With equals in each order: of `a` and `A`, of a composed letter and a decomposed one, of sizes. */
const given: [name: string, size: number, tag: string][] = [
  ['azur.txt', 10, 'odd'],
  ['Ärger.txt', 900, 'even'],
  ['b.txt', 10, 'odd'],
  ['A\u0308rger.txt', 8, 'even'],
  ['Zebra.txt', 1_000, 'odd'],
  ['AZUR.txt', 10, 'even'],
  ['10.txt', 900, 'odd'],
  ['apfel.txt', 9, 'even'],
  ['a.b.txt', 1, 'odd'],
];

describe('The order of documents', () => {
  const { api } = useApi({ env: { WORKER_ENABLED: 'false' } });
  let tenant: Tenant;
  beforeEach(async () => {
    tenant = await api.createTenant();
  });

  async function add(name: string, size: number, tags: string[] = [], of = tenant): Promise<Listed> {
    const input = { workspaceId: of.workspaceId, name, size, tags, contentType: 'text/plain' };
    return (await expectOk(callOver(api, 'REST', 'documents.createUpload', input, of.owner))).body.document;
  }
  const ask = ({ organizationId, workspaceId, owner }: Tenant, input: object) =>
    callOver(api, 'REST', 'documents.list', { organizationId, workspaceId, ...input }, owner);
  async function readPage(input: object): Promise<{ items: Listed[]; nextCursor: string | null }> {
    return (await expectOk(ask(tenant, input))).body;
  }
  async function readAll(input: object): Promise<Listed[]> {
    const { items, nextCursor } = await readPage(input);
    return nextCursor === null ? items : [...items, ...(await readAll({ ...input, cursor: nextCursor }))];
  }

  const keyOf = ({ name, size, createdAt }: Listed, sort: DocumentSort): Buffer | number => {
    if (sort.endsWith('name')) return Buffer.from(name.normalize('NFD').toLowerCase());
    return sort.endsWith('size') ? size : Date.parse(createdAt);
  };
  function ordered(items: Listed[], sort: DocumentSort): Listed[] {
    const compare = (one: Listed, other: Listed) => {
      const [a, b] = [keyOf(one, sort), keyOf(other, sort)];
      const byKey = Buffer.isBuffer(a) ? a.compare(b as Buffer) : a - (b as number);
      return byKey || (one.id < other.id ? -1 : 1);
    };
    const sorted = [...items].sort(compare);
    return sort.startsWith('-') ? sorted.reverse() : sorted;
  }

  it('is total in each sort, page by page and with a filter, and has no other tenant’s', async () => {
    const stranger = await api.createTenant();
    const items: Listed[] = [];
    for (const [name, size, tag] of given) {
      items.push(await add(name, size, [tag]));
      await add(name, size, [tag], stranger);
    }
    // Two are of one time.
    const at = items[3]?.createdAt as string;
    await api.database.db
      .updateTable('document')
      .set({ created_at: new Date(at) })
      .where('id', '=', items[4]?.id as string)
      .execute();
    items[4] = { ...(items[4] as Listed), createdAt: at };
    const namesOf = (found: Listed[]) => found.map(({ id, name }) => `${name} ${id}`);
    for (const sort of sorts) {
      expect(namesOf(await readAll({ sort, limit: 2 })), sort).to.deep.equal(namesOf(ordered(items, sort)));
      const odd = ordered(items, sort).filter(({ name }) => given.some((each) => each[0] === name && each[2] === 'odd'));
      expect(namesOf(await readAll({ sort, limit: 2, tag: 'odd' })), sort).to.deep.equal(namesOf(odd));
    }
    const names = (await readPage({ sort: 'name' })).items.map(({ name }) => name.normalize().toLowerCase());
    const words = ['10', 'a.b', 'apfel', 'azur', 'azur', 'ärger', 'ärger', 'b', 'zebra'];
    expect(names).to.deep.equal(words.map((word) => `${word}.txt`));
  });

  it('has those whose name contains what is looked for, whatever its case and form, page by page', async () => {
    for (const [name, size, tag] of given) await add(name, size, [tag]);
    const find = async (input: object) => (await readAll({ limit: 1, sort: '-name', ...input })).map(({ name }) => name.normalize());
    expect(await find({ name: 'ÄRG' })).to.deep.equal(['Ärger.txt', 'Ärger.txt']);
    expect(await find({ name: 'ärg'.normalize('NFD'), tag: 'odd' })).to.deep.equal([]);
    expect(await find({ name: 'azur', tag: 'even' })).to.deep.equal(['AZUR.txt']);
    expect(await find({ name: 'a.b' })).to.deep.equal(['a.b.txt']);
    expect(await find({ name: '%' })).to.deep.equal([]);
    for (const name of ['', 'a'.repeat(201), 'a\nb']) expect((await ask(tenant, { name })).body, name).to.include({ code: 'BAD_REQUEST' });
  });

  it('stays while others come in: none comes twice, none is left out', async () => {
    for (const [name, size] of [
      ['b', 20],
      ['d', 40],
      ['f', 60],
    ] as const)
      await add(name, size);
    for (const sort of sorts) {
      const first = await readPage({ sort, limit: 2 });
      for (const [name, size] of [
        ['a', 10],
        ['c', 30],
        ['e', 50],
        ['g', 70],
      ] as const)
        await add(name, size);
      const rest = await readPage({ sort, cursor: first.nextCursor });
      const names = [...first.items, ...rest.items].map(({ name }) => name);
      expect(names.filter((name) => 'bdf'.includes(name)).sort(), sort).to.deep.equal(['b', 'd', 'f']);
      await api.database.db.deleteFrom('document').where('name', 'not in', ['b', 'd', 'f']).execute();
    }
  });

  it('has cursors of its own: one of another sort is refused, and without a sort they are those of the newest first', async () => {
    for (const name of ['a', 'b', 'c']) await add(name, 10);
    for (const sort of [undefined, ...sorts]) {
      const { nextCursor } = await readPage({ limit: 1, ...(sort && { sort }) });
      for (const other of [undefined, ...sorts]) {
        const { status, body } = await ask(tenant, { limit: 1, cursor: nextCursor, ...(other && { sort: other }) });
        if ((sort ?? '-createdAt') === (other ?? '-createdAt')) expect(status, `${sort} ${other}`).to.equal(200);
        else {
          expect(body, `${sort} ${other}`).to.include({ code: 'BAD_REQUEST', status: 400, defined: true });
          expect(body.data.issues[0].path).to.deep.equal(['cursor']);
        }
      }
      const stranger = await api.createTenant();
      const foreign = await ask(stranger, { cursor: nextCursor, ...(sort && { sort }) });
      expect(foreign.body).to.include({ code: 'BAD_REQUEST', status: 400, defined: true });
    }
    const { body } = await ask(tenant, { sort: 'status' });
    expect(body.data.issues[0].path).to.deep.equal(['sort']);
  });

  it('goes on within names that are alike for longer than a cursor, and leaves none out if the last is gone', async () => {
    const alike = '🐝'.repeat(198);
    const items = [];
    for (const end of ['c', 'a', 'b', 'd']) items.push(await add(`${alike}${end}`, 10));
    for (const [sort, ends] of [
      ['name', 'abcd'],
      ['-name', 'dcba'],
    ] as const) {
      const { nextCursor } = await readPage({ sort, limit: 2 });
      expect(nextCursor).to.have.lengthOf.at.most(200);
      expect((await readAll({ sort, limit: 1 })).map(({ name }) => name.slice(-1)).join('')).to.equal(ends);
    }
    for (const [sort, gone, rest] of [
      ['name', 'b', 'acd'],
      ['-name', 'c', 'da'],
    ] as const) {
      const { nextCursor } = await readPage({ sort, limit: 2 });
      await api.database.db.deleteFrom('document').where('name', '=', `${alike}${gone}`).execute();
      const { items } = await readPage({ sort, cursor: nextCursor });
      expect(items.map(({ name }) => name.slice(-1)).join('')).to.equal(rest);
    }
  });
});
