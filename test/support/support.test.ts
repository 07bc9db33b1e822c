import { expect } from 'chai';
import { describeEvents } from './event-stream.ts';
import { lateValue } from './late-value.ts';
import { staysTrue } from './stays-true.ts';
import { listSlowestFiles, none } from './summary-reporter.ts';
import { useApi } from './use-api.ts';

describe('What the tests stand on', () => {
  it('has values that say so when they are used too early, and then are what was made', () => {
    const [value, set] = lateValue<{ name: string; fold?: number }>('letter');
    expect(() => value.name).to.throw('There is no letter');
    set({ name: 'one' });
    value.fold = 2;
    expect({ ...value }).to.deep.equal({ name: 'one', fold: 2 });
    set({ name: 'two' });
    expect([value.name, 'fold' in value]).to.deep.equal(['two', false]);
  });

  it('sees a condition break that was to stay true', async () => {
    let looks = 0;
    const failure = await staysTrue(() => ++looks < 3, 10_000).catch((error: Error) => error);
    expect(failure).to.be.an('error');
    expect(looks).to.equal(3);
    await staysTrue(() => true, 50);
  });

  it('names the events of a stream in few words, however large they are', () => {
    const events = Array.from({ length: 500 }, (_, index) => ({ event: 'message', data: { index, text: 'a'.repeat(10_000) } }));
    const described = describeEvents(events);
    expect(described)
      .to.match(/^500 events/)
      .and.include('"index":499');
    expect(described.length).to.be.below(4_000);
  });

  it('lists the slowest files, the slowest first', () => {
    const fileMs = { 'a.test.ts': 1_000, 'b.test.ts': 30_000, 'c.test.ts': 200 };
    expect(listSlowestFiles({ ...none, fileMs }, 2)).to.deep.equal(['   30.0 s  b.test.ts', '    1.0 s  a.test.ts']);
  });

  describe('gives an API', () => {
    const { api, tenant } = useApi({ env: { WORKER_ENABLED: 'false' }, tenant: 'of each test', check: 'at the end' });
    const seen = new Set<string>();
    // The API stops after this.
    after(async () => expect((await fetch(`${api.url}/readyz`)).status).to.equal(200));

    for (const test of ['one test', 'another test'])
      it(`with a tenant to ${test}`, () => {
        expect(seen).not.to.include(tenant.organizationId);
        seen.add(tenant.organizationId);
      });
  });
});
