import { expect } from 'chai';
import type { Db } from '../../db/connect.ts';
import { readable } from '../../domain/answers/cut-units.ts';
import { type Passage, readPassages } from '../../domain/answers/read-passages.ts';
import { cutChunks } from '../../domain/chunking/cut-chunks.ts';
import { getDocument } from '../../domain/documents/document.ts';
import type { FoundChunk } from '../../domain/search/find-chunks.ts';
import { storeChunks } from '../../domain/search/store-chunks.ts';
import { insertWorkspace } from '../support/chunks.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';

const kind = { model: 'm', dimensions: 1, chunking: '1' };

describe('Reading passages', () => {
  let database: TestDatabase;
  before(async () => {
    database = await createTestDatabase({ poolSize: 2 });
    await insertWorkspace(database.db, 'tables', { model: 'm', dimensions: 1 });
  });
  after(() => database.drop());

  /** Stores a document, and returns its chunks as a search finds them, in their order. */
  async function store(db: Db, id: string, contentType: string, text: string): Promise<FoundChunk[]> {
    const place = { organization_id: 'tables', workspace_id: 'tables', object_key: id, status: 'ready' } as const;
    const outline = { characters: [...text].length, pages: null, headings: [] };
    await db
      .insertInto('document')
      .values({ ...place, id, name: id, content_type: contentType, size_bytes: 1 })
      .execute();
    await db
      .insertInto('document_text')
      .values({ document_id: id, text, outline: JSON.stringify(outline) })
      .execute();
    const chunks = cutChunks(text, outline, { contentType }).map((chunk) => ({ ...chunk, embedding: [1] }));
    const document = await getDocument(db, id);
    await db.transaction().execute((trx) => storeChunks(trx, document, kind, chunks));
    return (await db.selectFrom('chunk').select('id').where('document_id', '=', id).orderBy('text_start').execute()) as FoundChunk[];
  }
  const ownOf = ({ text, units, own }: Passage) => own.flatMap((index) => (units[index] ? [readable(text, units[index])] : []));
  /** The units of each chunk by itself, as those of a question that finds no other one. */
  async function unitsOf(chunks: FoundChunk[]): Promise<string[]> {
    const passages = await Promise.all(chunks.map((chunk) => readPassages(database.db, [chunk])));
    return passages.flat().flatMap(ownOf);
  }

  it('gives each cell of a long CSV the head of its column, wherever a quoted one is cut', async () => {
    const long = Array.from({ length: 60 }, (_, index) => `Line ${index}, by ""him"", of the long note.`).join('\n');
    const rows = Array.from({ length: 900 }, (_, n) => [`Smith, John ${n}`, n === 500 ? long : `Old\n"Town" ${n}`, String(n)]);
    const quote = (cell: string) => `"${cell.replaceAll(/"+/g, '""')}"`;
    const text = [['Name', 'City', 'Age'], ...rows].map((cells) => cells.map(quote).join(',')).join('\n');
    const chunks = await store(database.db, 'quoted', 'text/csv', text);
    const expected = rows.map(([name, city, age]) => `Name: ${name} · City: ${city?.replaceAll('""', '"')} · Age: ${age}`);
    const whole = (await readPassages(database.db, chunks)).flatMap(ownOf);
    expect(expected.filter((row) => !whole.includes(row))).to.deep.equal([]);
    const named = (await unitsOf(chunks)).filter((unit) => unit.includes('Name: '));
    expect(named.filter((unit) => !expected.includes(unit))).to.deep.equal([]);
    expect(new Set(named).size).to.equal(rows.length);
  });

  it('has the records of a long JSON whole, wherever it is cut, and sentences of its long texts', async () => {
    const body = 'He said \\"no\\", then left.\\n\\nHe came back. ';
    const records = Array.from({ length: 400 }, (_, n) => `{"id":${n},"owner":{"name":"C:\\\\ \\"Smith\\" ${n}"},"paid":null}`);
    const text = `{"title":"Ledger","notes":"${body.repeat(1_000)}","records":[${records.join(',')}]}`;
    const found = await unitsOf(await store(database.db, 'ledger', 'application/json', text));
    expect(found.slice(0, 2)).to.deep.equal(['title: Ledger', 'He said "no", then left.']);
    const rows = records.map((_, n) => `id: ${n} · owner.name: C:\\ "Smith" ${n}`);
    expect(rows.filter((row) => !found.includes(row))).to.deep.equal([]);
    expect(new Set(found.filter((unit) => !rows.includes(unit)))).to.deep.equal(
      new Set(['title: Ledger', 'He said "no", then left.', 'He came back.']),
    );
  });

  it('cuts a long list or table once for all of its chunks, at the same places as for each alone', async () => {
    const rows = Array.from({ length: 9_000 }, (_, index) => `| Rope ${index} | ${index} g |`);
    const table = `| Name | Weight |\n|---|---|\n${rows.join('\n')}`;
    const list = Array.from({ length: 9_000 }, (_, index) => `${index % 3 === 0 ? '' : '  '}- rope 🪢 ${index}`).join('\n');
    const places = (passages: Passage[]) => passages.flatMap(({ starts, own }) => own.map((index) => starts[index]));
    for (const [name, text] of Object.entries({ table, list })) {
      const found = (await store(database.db, name, 'text/markdown', text)).filter((_, index) => index % 12 === 0).reverse();
      const together = await readPassages(database.db, found);
      expect(new Set(together.map(({ units }) => units)).size, name).to.equal(1);
      const alone = await Promise.all(found.map((chunk) => readPassages(database.db, [chunk])));
      expect(places(together)).to.deep.equal(places(alone.flat()));
    }
  });

  it('leaves out the last passages where all have more units than the AI service compares', async () => {
    const text = `${'|b|\n'.repeat(100)}\n`.repeat(250);
    const passages = await readPassages(database.db, await store(database.db, 'many', 'text/plain', text));
    const places = passages.flatMap(({ textStart, units, own }) => own.map((index) => textStart + (units[index]?.start ?? 0)));
    expect(places.length).to.be.within(19_000, 20_000);
    expect(Math.max(...places)).to.be.below(20_000 * 4 + 201);
  });
});
