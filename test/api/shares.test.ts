import { expect } from 'chai';
import { DummyDriver, Kysely, PostgresAdapter, PostgresIntrospector, PostgresQueryCompiler, type QueryResult } from 'kysely';
import { pino } from 'pino';
import type { Caller } from '../../api/caller.ts';
import { JobStreams } from '../../api/streams/job-streams.ts';
import type { Db } from '../../db/connect.ts';
import { shareKey } from '../../db/fair-share.ts';
import { createCursors } from '../../domain/page.ts';
import { until } from '../support/processes.ts';

const log = pino({ level: 'silent' });

/** A database that holds nothing, and notes for whom it was asked. */
function createAsked(asked: string[]): Db {
  const connection = {
    async executeQuery<Row>(): Promise<QueryResult<Row>> {
      asked.push(shareKey());
      return { rows: [] };
    },
    async *streamQuery<Row>(): AsyncGenerator<QueryResult<Row>> {},
  };
  class AskedDriver extends DummyDriver {
    override async acquireConnection() {
      return connection;
    }
  }
  return new Kysely({
    dialect: {
      createAdapter: () => new PostgresAdapter(),
      createDriver: () => new AskedDriver(),
      createIntrospector: (db) => new PostgresIntrospector(db),
      createQueryCompiler: () => new PostgresQueryCompiler(),
    },
  });
}

describe('The share of connections', () => {
  it('of an open stream is that of its organization: for its leases, rechecks, replays and events', async () => {
    const [asked, others]: string[][] = [[], []];
    const lease = {
      async renew() {
        others?.push(`renew ${shareKey()}`);
        return true;
      },
      release: async () => void others?.push(`release ${shareKey()}`),
    };
    const streams = new JobStreams({
      db: createAsked(asked ?? []),
      now: () => new Date(),
      cursors: createCursors(Buffer.alloc(32)),
      log,
      leases: {
        perUser: 5,
        async acquire() {
          others?.push(`acquire ${shareKey()}`);
          return lease;
        },
      },
      async findMembership() {
        others?.push(`recheck ${shareKey()}`);
        return { signedIn: true, role: 'owner' } as never;
      },
    });
    const left = new AbortController();
    const events = streams.open({
      caller: { userId: 'user' } as Caller,
      organizationId: 'one',
      workspaceId: undefined,
      lastEventId: streams.position('one'),
      streamId: undefined,
      signal: left.signal,
      hangUp: () => {},
      onDrained: (callback) => callback(),
    });
    const reading = events[Symbol.asyncIterator]().next();
    await until(() => asked?.length !== 0 && others?.length === 3);
    const replayed = asked?.length ?? 0;
    streams.notify('one job-1 job-2');
    await until(() => (asked?.length ?? 0) > replayed);
    left.abort();
    expect(await reading).to.deep.include({ done: true });
    expect([...new Set(asked)]).to.deep.equal(['one']);
    expect(others?.toSorted()).to.deep.equal(['acquire one', 'recheck one', 'release one', 'renew one']);
  });
});
