import { expect } from 'chai';
import { pino } from 'pino';
import type { Caller } from '../../api/caller.ts';
import { OrganizationLimits } from '../../api/limits/organization-limits.ts';
import { type Procedure, procedure, type RequestInfo, run } from '../../api/procedure.ts';
import { ApiError } from '../../contract/api-error.ts';
import { contract } from '../../contract/index.ts';

describe('The limits of an organization in one process', () => {
  const { signal } = new AbortController();
  const generous = { requestsPerSecond: 1_000, atOnce: 2, patienceMs: 60_000 };

  const codeOf = (entering: Promise<unknown>) =>
    entering.then(
      () => 'entered',
      (error: ApiError) => [error.code, error.retryAfterSeconds],
    );
  const waits = (promise: Promise<unknown>) =>
    Promise.race([promise.then(() => false), new Promise<boolean>((resolve) => setTimeout(() => resolve(true), 20))]);

  it('let so many requests run at once, and the next ones in their order; others do not wait for them', async () => {
    const limits = new OrganizationLimits(generous);
    const [first] = [await limits.enter('loud', signal), await limits.enter('loud', signal)];
    const order: string[] = [];
    const third = limits.enter('loud', signal).then(() => order.push('third'));
    const fourth = limits.enter('loud', signal).then(() => order.push('fourth'));
    expect(await waits(third)).to.equal(true);
    await limits.enter('quiet', signal);
    first();
    await third;
    expect(await waits(fourth)).to.equal(true);
    expect(order).to.deep.equal(['third']);
  });

  it('refuse with Retry-After who would wait for too long, and who comes beyond all that may wait', async () => {
    const limits = new OrganizationLimits({ ...generous, atOnce: 1, maxWaiting: 1, patienceMs: 10 });
    await limits.enter('loud', signal);
    const waiting = codeOf(limits.enter('loud', signal));
    expect(await codeOf(limits.enter('loud', signal))).to.deep.equal(['TOO_MANY_REQUESTS', 2]);
    expect(await waiting).to.deep.equal(['TOO_MANY_REQUESTS', 2]);
  });

  it('refuse with Retry-After the request that is one too many in a second, and nobody else', async () => {
    const limits = new OrganizationLimits({ requestsPerSecond: 3, atOnce: 100 });
    for (let n = 0; n < 3; n++) await limits.enter('loud', signal);
    expect(await codeOf(limits.enter('loud', signal))).to.deep.equal(['TOO_MANY_REQUESTS', 1]);
    expect(await codeOf(limits.enter('quiet', signal))).to.equal('entered');
  });

  it('let four times as many searches run at once, which take no permit from other requests', async () => {
    const limits = new OrganizationLimits({ ...generous, atOnce: 1 });
    for (let n = 0; n < 4; n++) await limits.enter('loud', signal, 'search');
    expect(await waits(limits.enter('loud', signal, 'search'))).to.equal(true);
    expect(await codeOf(limits.enter('loud', signal))).to.equal('entered');
  });

  it('end with the result of the procedure, not when its client has read the response', async () => {
    const organizationLimits = new OrganizationLimits({ ...generous, atOnce: 1, patienceMs: 100 });
    // A request that reads asks the database nothing here.
    const deps = { log: pino({ level: 'silent' }), skippedEvents: { add() {} }, organizationLimits, db: undefined as never };
    const usage = procedure(contract.workspaces.list, async ({ input, authorize }) => {
      await authorize(input.organizationId);
      return [];
    });
    const caller = { userId: 'user', memberships: { one: 'member' } } as unknown as Caller;
    const request = { signal, noteOrganization() {}, noteCreated() {}, onClose() {} } as unknown as RequestInfo;
    for (let n = 0; n < 3; n++)
      expect(await run(deps, usage as Procedure, { input: { organizationId: 'one' }, caller, request })).to.deep.equal([]);
  });

  it('forget who leaves while it waits', async () => {
    const limits = new OrganizationLimits({ ...generous, atOnce: 1 });
    const release = await limits.enter('loud', signal);
    const leaving = new AbortController();
    const left = codeOf(limits.enter('loud', leaving.signal));
    leaving.abort(new ApiError('SERVICE_UNAVAILABLE'));
    expect(await left).to.deep.equal(['SERVICE_UNAVAILABLE', undefined]);
    const next = limits.enter('loud', signal);
    release();
    await next;
  });
});
