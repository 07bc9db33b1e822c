import { expect } from 'chai';
import { ApiError } from '../../contract/api-error.ts';
import { runOnce } from '../../domain/idempotency.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';

describe('An effect that runs once', () => {
  let database: TestDatabase;
  let runs = 0;
  before(async () => {
    database = await createTestDatabase({ poolSize: 4 });
    await database.db.insertInto('user').values({ id: 'ada', name: 'Ada', email: 'ada@example.com' }).execute();
  });
  after(() => database.drop());

  const once = (request: unknown) =>
    database.db
      .transaction()
      .execute((trx) => runOnce(trx, { userId: 'ada', operation: 'test', key: 'one', request }, async () => ({ run: ++runs })));

  it('knows its request again in whatever order it names its fields, and a list by its order', async () => {
    expect(await once({ a: 1, b: { c: [1, 2], d: 'x' } })).to.deep.equal({ run: 1 });
    expect(await once({ b: { d: 'x', c: [1, 2] }, a: 1 })).to.deep.equal({ run: 1 });
    const refused = await once({ a: 1, b: { c: [2, 1], d: 'x' } }).catch((error: unknown) => error);
    expect(refused).to.be.instanceOf(ApiError).with.property('code', 'BAD_REQUEST');
  });

  it('is another one for each user and operation, which keep their own results of one key and request', async () => {
    await database.db.insertInto('user').values({ id: 'bob', name: 'Bob', email: 'bob@example.com' }).execute();
    const scopes = [
      { userId: 'ada', operation: 'first' },
      { userId: 'ada', operation: 'second' },
      { userId: 'bob', operation: 'first' },
    ];
    const runAll = async () => {
      const results: unknown[] = [];
      for (const scope of scopes)
        results.push(
          await database.db
            .transaction()
            .execute((trx) => runOnce(trx, { ...scope, key: 'shared', request: {} }, async () => ({ of: { ...scope } }))),
        );
      return results;
    };
    expect(await runAll()).to.deep.equal(scopes.map((scope) => ({ of: scope })));
    expect(await runAll()).to.deep.equal(scopes.map((scope) => ({ of: scope })));
  });
});
