import { setTimeout as delay } from 'node:timers/promises';
import { expect } from 'chai';
import { pino } from 'pino';
import { type Authorize, needsMembership } from '../../api/caller.ts';
import { LoopLoad } from '../../api/limits/loop-load.ts';
import { costOfAuthRead, costOfPage, ReadPace } from '../../api/limits/read-pace.ts';
import { procedure, run } from '../../api/procedure.ts';
import { Neighbours } from '../../concurrency/neighbours.ts';
import type { ApiError } from '../../contract/api-error.ts';
import { contract } from '../../contract/index.ts';
import type { AnyRoute } from '../../contract/route.ts';

describe('The share of an organization’s reads', () => {
  const { signal } = new AbortController();
  const busy = { isBusy: true, msPerRequest: 2 };

  /** In a process that serves these organizations, and is as busy as `load` says. */
  function start(served: string[], load = busy, share = 0.01): ReadPace {
    const neighbours = new Neighbours(3_600_000);
    for (const organization of served) neighbours.note(organization);
    return new ReadPace({ share, neighbours, load });
  }

  /** Reads at once. Returns how long each waited. */
  async function waits(reads: ReadPace, count: number, key = 'loud', cost?: number): Promise<number[]> {
    const startedAt = performance.now();
    const read = async () => {
      await reads.enter(key, signal, cost);
      return performance.now() - startedAt;
    };
    return await Promise.all(Array.from({ length: count }, read));
  }

  it('is kept by waits between them, after the first ones', async () => {
    // Each read is 200 ms of the share, and 100 are free.
    const waited = await waits(start(['loud', 'quiet']), 10);
    expect(waited[0]).to.be.lessThan(95);
    expect(waited[1]).to.be.within(95, 290);
    expect(waited[5]).to.be.greaterThan(895);
    expect(waited[9]).to.be.greaterThan(1_695);
    expect(waited).to.deep.equal([...waited].sort((a, b) => a - b));
  });

  it('is all there is if the process is not busy, nobody else is served, or it is 1', async () => {
    const idle = { ...busy, isBusy: false };
    for (const reads of [start(['loud', 'quiet'], idle), start(['loud']), start(['loud', 'quiet'], busy, 1)]) {
      expect(Math.max(...(await waits(reads, 200)))).to.be.lessThan(1_000);
    }
  });

  it('counts what was read shortly before the process became busy, a second at most', async () => {
    const load = { ...busy, isBusy: false };
    const reads = start(['loud', 'quiet'], load);
    await waits(reads, 200);
    load.isBusy = true;
    const [next = 0] = await waits(reads, 1);
    expect(next).to.be.within(600, 1_500);
  });

  it('goes on while it is used up, also if the process is no longer busy because of it', async () => {
    const load = { ...busy };
    const reads = start(['loud', 'quiet'], load);
    const first = waits(reads, 6);
    load.isBusy = false;
    const [next = 0] = await waits(reads, 1);
    expect(next).to.be.greaterThan(300);
    await first;
    await delay(600);
    expect(Math.max(...(await waits(reads, 10)))).to.be.lessThan(500);
  });

  it('counts a read as 2.5 ms at most, whatever else keeps the thread busy', async () => {
    const reads = start(['loud', 'quiet'], { ...busy, msPerRequest: 1_000 });
    const [, , third = 0] = await waits(reads, 3);
    expect(third).to.be.within(245, 490);
  });

  it('counts a page as two, and a read below /api/auth as six', async () => {
    const [, page = 0] = await waits(start(['loud', 'quiet']), 2, 'loud', costOfPage);
    expect(page).to.be.within(295, 590);
    const [, ofAuth = 0] = await waits(start(['loud', 'quiet'], busy, 0.02), 2, 'loud', costOfAuthRead);
    expect(ofAuth).to.be.within(495, 990);
  });

  it('holds up no other organization', async () => {
    const reads = start(['loud', 'quiet']);
    const loud = waits(reads, 8);
    expect(Math.max(...(await waits(reads, 2, 'quiet')))).to.be.lessThan(240);
    await loud;
  });

  it('is refused to those who would wait for too long, and waits for no client that has left', async () => {
    const reads = start(['loud', 'quiet'], busy, 0.001);
    const leaving = new AbortController();
    const left = ['first', 'second', 'third', 'fourth'].map(() =>
      reads.enter('loud', leaving.signal).catch((error: Error) => error.message),
    );
    const refused = await reads.enter('loud', signal).catch((error: ApiError) => error);
    expect(refused).to.include({ code: 'SERVICE_UNAVAILABLE', retryAfterSeconds: 2 });
    leaving.abort(new Error('left'));
    expect(await Promise.all(left)).to.deep.equal([undefined, 'left', 'left', 'left']);
  });
});

describe('A procedure', () => {
  const organizationId = 'organization';
  const caller = { userId: 'user', email: 'user@example.com', memberships: { [organizationId]: 'owner' }, role: 'admin' } as never;
  const routes = [
    [contract.documents.get, [[organizationId, 1]]],
    [contract.jobs.list, [[organizationId, 2]]],
    [contract.account.me, [['user user', 1]]],
    [contract.admin.system.status, [['user user', 1]]],
    [contract.admin.auditLog, [['user user', 2]]],
    [contract.admin.organizations.list, [['user user', 2]]],
    [contract.system.health, []],
    [contract.jobs.stream, []],
    [contract.documents.search, []],
    [contract.workspaces.create, []],
  ] as [AnyRoute, [string, number][]][];

  /** Runs a procedure of this route. Returns whose shares it read in and at what cost, what its writes cost, and what was counted. */
  async function entered(route: AnyRoute): Promise<{ reads: [string, number][]; writes: number[]; load: number }> {
    const seen = { reads: [] as [string, number][], writes: [] as number[], load: 0 };
    const deps = {
      ...{ log: pino({ enabled: false }), skippedEvents: { add() {} }, neighbours: new Neighbours(0) },
      writes: {
        async enter(_key: string, _signal: AbortSignal, cost = 1) {
          seen.writes.push(cost);
          return () => {};
        },
      },
      reads: { enter: async (key: string, _signal: AbortSignal, cost = 1) => void seen.reads.push([key, cost]) },
      load: {
        note(cost = 1) {
          seen.load += cost;
        },
      },
    };
    const request = { noteOrganization() {}, keepBody: () => () => {}, signal: new AbortController().signal } as never;
    const isPublic = route.metadata.access === 'public';
    const handler = async ({ authorize }: { authorize: Authorize }) => {
      if (needsMembership(route)) await authorize(organizationId);
      throw new Error('done');
    };
    const call = run(deps, procedure(route, handler as never), { input: {}, caller: isPublic ? undefined : caller, request });
    expect(await call.catch((error: Error) => error.message)).to.equal('done');
    return seen;
  }

  for (const [route, shares] of routes) {
    it(`reads in a share, unless it writes, searches, streams, or has no caller: ${route.metadata.operation}`, async () => {
      expect(await entered(route)).to.deep.include({ reads: shares, load: shares[0]?.[1] ?? 1 });
    });
  }

  it('writes at the cost of six if it creates a job', async () => {
    const operations = [contract.jobs.create, contract.jobs.retry, contract.jobs.cancel, contract.workspaces.create, contract.jobs.get];
    const writes = await Promise.all(operations.map(async (route) => (await entered(route as AnyRoute)).writes));
    expect(writes).to.deep.equal([[6], [6], [1], [1], []]);
  });
});

describe('The load of the thread', () => {
  it('is what requests take of it, and is known anew after a moment', async () => {
    const load = new LoopLoad();
    expect(load.isBusy).to.equal(false);
    const until = performance.now() + 200;
    for (let n = 0; n < 5; n++) load.note(n === 0 ? 16 : 1);
    while (performance.now() < until);
    // A turn of the loop ends the time in which it was busy.
    await delay(1);
    load.note();
    expect(load.isBusy).to.equal(true);
    expect(load.msPerRequest).to.be.within(7.5, 30);
    await delay(400);
    load.note();
    expect(load.isBusy).to.equal(false);
    expect(load.msPerRequest).to.be.lessThan(100);
  });
});
