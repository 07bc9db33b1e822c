import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect } from 'chai';
import express from 'express';
import { Kysely, PostgresAdapter, PostgresIntrospector, PostgresQueryCompiler, type QueryResult } from 'kysely';
import { readyz } from '../../api/http/health.ts';
import type { Db } from '../../db/connect.ts';
import { until } from '../support/processes.ts';

describe('Readiness', () => {
  let server: Server;
  let url: string;
  const warned: object[] = [];
  let queries: PromiseWithResolvers<QueryResult<never>>[];

  before(async () => {
    const app = express().get('/readyz', readyz(slowDb(), { stopping: false }, { warn: (line: object) => void warned.push(line) }));
    server = createServer(app).listen(0, '127.0.0.1');
    await new Promise((resolve) => server.once('listening', resolve));
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/readyz`;
  });
  beforeEach(() => {
    queries = [];
  });
  after(() => server.close());

  /** A database that responds when the test says. */
  function slowDb(): Db {
    const connection = {
      executeQuery: () => {
        const query = Promise.withResolvers<QueryResult<never>>();
        queries.push(query);
        return query.promise as Promise<QueryResult<never>>;
      },
      streamQuery: () => {
        throw new Error('nothing is streamed');
      },
    };
    const nothing = async () => {};
    const driver = {
      acquireConnection: async () => connection,
      ...{ init: nothing, releaseConnection: nothing, destroy: nothing },
      ...{ beginTransaction: nothing, commitTransaction: nothing, rollbackTransaction: nothing },
    };
    return new Kysely<never>({
      dialect: {
        createAdapter: () => new PostgresAdapter(),
        createDriver: () => driver as never,
        createIntrospector: (db) => new PostgresIntrospector(db),
        createQueryCompiler: () => new PostgresQueryCompiler(),
      },
    }) as unknown as Db;
  }

  /** Asks so often, and lets the database respond once all have asked. */
  async function ask(times: number): Promise<number[]> {
    let arrived = 0;
    const all = Promise.withResolvers<void>();
    const onRequest = () => ++arrived === times && all.resolve();
    server.on('request', onRequest);
    const asked = Array.from({ length: times }, () => fetch(url).then(({ status }) => status));
    await all.promise;
    server.off('request', onRequest);
    await new Promise((resolve) => setImmediate(resolve));
    for (const query of queries) query.resolve({ rows: [] });
    return await Promise.all(asked);
  }

  it('asks the database once for all who want to know at the same time', async () => {
    expect(await ask(20)).to.deep.equal(Array(20).fill(200));
    expect(queries).to.have.length(1);
  });

  /** Asks once, and does something to the question once it is there. */
  async function askAnd(onQuery: (query: PromiseWithResolvers<QueryResult<never>>) => void): Promise<unknown[]> {
    const asked = fetch(url);
    await until(() => queries.length === 1);
    for (const query of queries) onQuery(query);
    const response = await asked;
    return [response.status, await response.json(), response.headers.get('cache-control')];
  }

  it('says that the database did not respond in two seconds', async () => {
    const startedAt = performance.now();
    expect(await askAnd(() => {})).to.deep.equal([503, { status: 'unavailable', checks: { database: 'timeout' } }, null]);
    expect(performance.now() - startedAt).to.be.within(1_900, 4_000);
  });

  it('says that the database cannot be reached', async () => {
    const unreachable = [503, { status: 'unavailable', checks: { database: 'unreachable' } }, null];
    const cause = new Error('password authentication failed');
    expect(await askAnd(({ reject }) => reject(cause))).to.deep.equal(unreachable);
    // The response does not tell why; the log does.
    expect(warned).to.deep.equal([{ err: cause }]);
  });

  it('asks it again for who comes later', async () => {
    await ask(2);
    await ask(2);
    expect(queries).to.have.length(2);
  });
});
