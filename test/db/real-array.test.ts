import { expect } from 'chai';
import { sql } from 'kysely';
import { readRealArray, toRealArray } from '../../db/real-array.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';

describe('A real[] in binary form', () => {
  let database: TestDatabase;
  before(async () => {
    database = await createTestDatabase({ poolSize: 1 });
  });
  after(() => database.drop());

  it('is what Postgres makes of the same numbers, and is read as them', async () => {
    for (const values of [
      [0.5, -0.25, 0],
      [Math.fround(0.1), 3.4e38, 1e-40, -0],
      Array.from({ length: 3_072 }, (_, n) => Math.fround(Math.sin(n))),
      [],
    ]) {
      const text = `{${values.join()}}`;
      const { rows } = await sql<object>`
        select binary_form = text_form as same, array_length(binary_form, 1) as length, array_lower(binary_form, 1) as lower
        from (select ${toRealArray(values)}::real[] as binary_form, ${text}::real[] as text_form) as forms
      `.execute(database.db);
      const sent = await sql<{ bytes: Uint8Array }>`select array_send(${toRealArray(values)}::real[]) as bytes`.execute(database.db);
      expect([...readRealArray(sent.rows[0]?.bytes ?? new Uint8Array())]).to.deep.equal([...Float32Array.from(values)]);
      const bounds = values.length > 0 ? { length: values.length, lower: 1 } : { length: null, lower: null };
      expect(rows).to.deep.equal([{ same: true, ...bounds }]);
    }
  });
});
