import { expect } from 'chai';
import { graceDays, planLimits } from '../../properties/money-state.ts';
import { observe } from '../../properties/observe.ts';
import { Service } from '../../properties/service.ts';
import { Tenant } from '../../properties/tenant.ts';

// docs/rules.md, months, changes of plan. Credits of a month: 12 on free, 30 on pro; a summary costs 5, an embedding 1, a search 1.
const { free, pro } = planLimits;
const day = 86_400_000;

/** The zones of the database's sessions and of this process. In UTC it is another day there; New York has days of 23 and 25 hours. */
const zones = [
  { database: 'UTC', process: 'UTC' },
  { database: 'Pacific/Kiritimati', process: 'Pacific/Kiritimati' },
  { database: 'America/New_York', process: 'Pacific/Kiritimati' },
];

for (const zone of zones) {
  describe(`Credits, with the database in ${zone.database} and the process in ${zone.process}`, () => {
    let service: Service;
    let tenant: Tenant;
    const zoneBefore = process.env.TZ;
    before(async () => {
      process.env.TZ = zone.process;
      service = await Service.start({ billing: true, timeZone: zone.database });
    });
    after(async () => {
      if (zoneBefore === undefined) delete process.env.TZ;
      else process.env.TZ = zoneBefore;
      await service.stop();
    });
    afterEach(() => tenant.remove());

    const begin = async (at: string) => {
      ({ tenant } = await Tenant.create(service, Date.parse(at)));
    };
    const goTo = (at: string) => tenant.setTime(Date.parse(at));
    const create = async (fields: object): Promise<string> => {
      const { organizationId } = tenant;
      return (await tenant.call('jobs.create', { organizationId, maxAttempts: 1, ...fields })).id;
    };
    const summarize = () => create({ kind: 'text.summarize', text: 'One.', maxSentences: 1 });
    const embed = () => create({ kind: 'text.embed', texts: ['one'] });
    const cancel = (id: string) => tenant.call('jobs.cancel', { id });
    const startSearch = async () => {
      const input = { workspaceId: Object.keys((await observe(tenant)).bytes)[0], query: 'mirrors', limit: 1 };
      const { call, result } = await service.ai.callOf(() => tenant.call('documents.search', input));
      if (!call) throw new Error('the search was refused', { cause: await tenant.try(() => result) });
      return { call, result };
    };
    const usage = () => tenant.call('organizations.usage', { organizationId: tenant.organizationId });
    const used = async () => (await usage()).usage.aiCredits as number;
    const status = () => tenant.call('billing.status', { organizationId: tenant.organizationId });
    const months = async () => (await observe(tenant)).months;
    const refusal = async (work: () => Promise<unknown>) => (await tenant.try(work)).refusal?.data;
    const limit = (plan: string, credits: number) => ({ kind: 'aiCredits', limit: credits, plan, scope: 'organization' });
    /** Subscribes to a plan at the provider, and tells the service. */
    const subscribe = async (price: string): Promise<string> => {
      const { id } = service.stripe.state.subscribe({ customer: tenant.customer, prices: [[price, 1]] });
      await tell();
      return id;
    };
    const tell = () => service.takeEvent(service.stripe.state.events.at(-1));

    it('charged in the last millisecond of a month count in it, also if they are given back in the next', async () => {
      await begin('2027-01-31T23:59:59.999Z');
      const id = await summarize();
      expect(await used()).to.equal(5);
      expect((await usage()).period).to.deep.equal({ start: '2027-01-01T00:00:00.000Z', end: '2027-02-01T00:00:00.000Z' });
      await goTo('2027-02-01T00:00:00.000Z');
      expect(await used()).to.equal(0);
      expect((await usage()).period).to.deep.equal({ start: '2027-02-01T00:00:00.000Z', end: '2027-03-01T00:00:00.000Z' });
      await embed();
      await cancel(id);
      expect(await months()).to.deep.equal({ '2027-01-01': 0, '2027-02-01': 1 });
      expect(await used()).to.equal(1);
    });

    it('of a month that was used up are given back to it alone: the next one has its limit, no more', async () => {
      await begin('2027-12-31T23:59:59.999Z');
      const last = [await summarize(), await summarize()];
      expect(await refusal(summarize)).to.deep.equal(limit('free', free.aiCredits));
      await goTo('2028-01-01T00:00:00.000Z');
      for (let index = 0; index < 2; index++) await summarize();
      for (const id of last) await cancel(id);
      expect(await refusal(summarize)).to.deep.equal(limit('free', free.aiCredits));
      expect(await months()).to.deep.equal({ '2027-12-01': 0, '2028-01-01': 10 });
    });

    it('of a retry count in the month of the retry, and those of the failed job in its own', async () => {
      await begin('2027-04-30T23:59:00.000Z');
      const jobId = await summarize();
      const { call, result } = await service.ai.callOf(() => service.act('runJobAttempt', { jobId }));
      await goTo('2027-05-01T00:00:30.000Z');
      call?.fail(true);
      await result.catch(() => {});
      await tenant.call('jobs.retry', { id: jobId });
      expect(await months()).to.deep.equal({ '2027-04-01': 0, '2027-05-01': 5 });
    });

    for (const [how, end, left] of [
      ['succeeds', 'answer', 1],
      ['fails', 'fail', 0],
    ] as const) {
      it(`held for a search that ${how} in the next month count in the month of the hold`, async () => {
        await begin('2027-06-30T23:59:59.500Z');
        const { call, result } = await startSearch();
        await goTo('2027-07-01T00:00:00.500Z');
        call[end](false);
        await result.catch(() => {});
        expect(await months()).to.deep.equal({ '2027-06-01': left });
        expect(await used()).to.equal(0);
        expect((await observe(tenant)).openSearches).to.deep.equal([]);
      });
    }

    it('held for a search whose process dies are given back to the month of the hold by the sweep of the next', async () => {
      await begin('2027-06-30T23:59:59.999Z');
      const lost = await startSearch();
      await goTo('2027-07-01T00:10:00.000Z');
      await service.act('takeBackLost');
      expect(await months()).to.deep.equal({ '2027-06-01': 0 });
      lost.call.answer();
      await lost.result;
      expect(await months()).to.deep.equal({ '2027-06-01': 0 });
    });

    it('that an upgrade in the middle of a month leaves are those of the new plan less what was used', async () => {
      await begin('2027-09-15T12:00:00.000Z');
      for (let index = 0; index < 2; index++) await summarize();
      expect(await refusal(summarize)).to.deep.equal(limit('free', free.aiCredits));
      await subscribe('price_pro');
      expect(await usage()).to.deep.include({ plan: 'pro', limits: pro });
      expect(await used()).to.equal(10);
      for (let index = 0; index < 4; index++) await summarize();
      expect(await refusal(embed)).to.deep.equal(limit('pro', pro.aiCredits));
      expect(await used()).to.equal(30);
    });

    it('that were used before a downgrade in the middle of a month stay used, and what is over the limit is told', async () => {
      await begin('2027-09-15T12:00:00.000Z');
      const id = await subscribe('price_pro');
      const jobs = [];
      for (let index = 0; index < 6; index++) jobs.push(await summarize());
      service.stripe.state.end(id);
      await tell();
      expect(await status()).to.deep.include({ plan: 'free', overLimit: [{ kind: 'aiCredits', current: 30, limit: free.aiCredits }] });
      expect(await refusal(embed)).to.deep.equal(limit('free', free.aiCredits));
      for (const job of jobs.slice(0, 3)) await cancel(job);
      expect(await used()).to.equal(15);
      expect(await refusal(embed)).to.deep.equal(limit('free', free.aiCredits));
      await cancel(jobs[3] ?? '');
      expect((await status()).overLimit).to.deep.equal([]);
      await embed();
      await embed();
      expect(await refusal(embed)).to.deep.equal(limit('free', free.aiCredits));
      await goTo('2027-10-01T00:00:00.000Z');
      expect(await used()).to.equal(0);
      await embed();
    });

    it('of the paid plan are there until the last millisecond of the days of grace, in the middle of a month', async () => {
      // The clocks of New York change on 14 March.
      await begin('2027-02-03T10:00:00.000Z');
      const id = await subscribe('price_pro');
      await goTo('2027-03-05T10:00:00.000Z');
      service.stripe.state.renew(id, false);
      await tell();
      for (let index = 0; index < 3; index++) await summarize();
      const end = Date.parse('2027-03-05T10:00:00.000Z') + graceDays * day;
      await tenant.setTime(end - 1);
      expect(await status()).to.deep.include({ plan: 'pro', paymentFailed: true, overLimit: [] });
      await embed();
      await tenant.setTime(end);
      expect(await status()).to.deep.include({ plan: 'free', overLimit: [{ kind: 'aiCredits', current: 16, limit: free.aiCredits }] });
      expect(await refusal(embed)).to.deep.equal(limit('free', free.aiCredits));
      expect((await observe(tenant)).planInSql).to.equal('free');
      service.stripe.state.recover(id);
      await tell();
      expect(await status()).to.deep.include({ plan: 'pro', overLimit: [] });
      await embed();
      expect(await used()).to.equal(17);
    });

    for (const [year, last] of [
      [2027, '2027-02-28'],
      [2028, '2028-02-29'],
      [2100, '2100-02-28'],
    ] as const) {
      it(`of February ${year} end with ${last}`, async () => {
        await begin(`${last}T23:59:59.999Z`);
        await embed();
        expect((await usage()).period).to.deep.equal({ start: `${year}-02-01T00:00:00.000Z`, end: `${year}-03-01T00:00:00.000Z` });
        await goTo(`${year}-03-01T00:00:00.000Z`);
        await embed();
        expect(await months()).to.deep.equal({ [`${year}-02-01`]: 1, [`${year}-03-01`]: 1 });
      });
    }
  });
}
