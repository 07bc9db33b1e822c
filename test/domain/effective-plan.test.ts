import { expect } from 'chai';
import { sql } from 'kysely';
import { subscriptionStatus } from '../../contract/fields.ts';
import { effectivePlan, type PlanSource } from '../../domain/billing/effective-plan.ts';
import { createClockedDatabase } from '../support/clocked-database.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';

const day = 86_400_000;
const dunningDays = 14;
const now = new Date();
const at = (days: number) => new Date(now.getTime() + days * day);

/** When renewals were due that are not paid, and periods end, in days from now. */
const graces = {
  'no unpaid renewal, in its period': { pastDueSince: null, periodEnd: at(10) },
  'no unpaid renewal, its period just over': { pastDueSince: null, periodEnd: at(-13.9) },
  'no unpaid renewal, its period long over': { pastDueSince: null, periodEnd: at(-14.1) },
  'unpaid for less than the days of dunning': { pastDueSince: at(-13.9), periodEnd: at(16) },
  'unpaid for longer than the days of dunning': { pastDueSince: at(-14.1), periodEnd: at(16) },
  'nothing known': { pastDueSince: null, periodEnd: null },
};
const inGrace = new Set(Object.keys(graces).filter((_, index) => [0, 1, 3].includes(index)));

interface Case {
  name: string;
  subscriptions: PlanSource[];
  expected: string;
}

/** Every status, at every time, of every plan; then some of them, two at once. */
const single: Case[] = [...subscriptionStatus.options].flatMap((status) =>
  Object.entries(graces).flatMap(([grace, dates]) =>
    ['pro', 'team', 'gold'].map((plan) => {
      const counts = status === 'active' || status === 'trialing' || (status === 'past_due' && inGrace.has(grace));
      const expected = counts && plan !== 'gold' ? plan : 'free';
      return { name: `${plan} ${status}, ${grace}`, subscriptions: [{ plan, status, ...dates }], expected };
    }),
  ),
);
const rank = ['free', 'pro', 'team'];
const some = single.filter((_, index) => index % 7 === 0);
const pairs: Case[] = some.flatMap((one) =>
  some.map((other) => ({
    name: `${one.name}; ${other.name}`,
    subscriptions: [...one.subscriptions, ...other.subscriptions],
    expected: rank[Math.max(rank.indexOf(one.expected), rank.indexOf(other.expected))] ?? '',
  })),
);
const cases: Case[] = [{ name: 'no subscription', subscriptions: [], expected: 'free' }, ...single, ...pairs];

describe('The plan of an organization', () => {
  it(`is the best that one of its subscriptions gives: ${cases.length} cases`, () => {
    const wrong = cases.filter(({ subscriptions, expected }) => effectivePlan(subscriptions, { now, dunningDays }) !== expected);
    expect(wrong.map(({ name }) => name)).to.deep.equal([]);
  });

  it('ends with its period if no day of dunning is granted', () => {
    const at = (periodEnd: Date) =>
      effectivePlan([{ plan: 'pro', status: 'past_due', pastDueSince: null, periodEnd }], { now, dunningDays: 0 });
    expect([at(new Date(now.getTime() + 1)), at(now)]).to.deep.equal(['pro', 'free']);
  });

  describe('in SQL', () => {
    let database: TestDatabase;
    before(async () => {
      database = await createTestDatabase({ poolSize: 1 });
    });
    after(() => database.drop());

    it('is the same in every case', async () => {
      const { db } = database;
      await sql`insert into organization (id, name, slug) select 'o' || n, 'O', 'o-' || n from generate_series(0, ${cases.length - 1}) n`.execute(
        db,
      );
      const rows = cases.flatMap(({ subscriptions }, index) =>
        subscriptions.map((each, position) => ({
          ...{ id: `${index}-${position}`, organization: `o${index}`, plan: each.plan, status: each.status },
          ...{ ends: each.periodEnd?.toISOString() ?? null, due: each.pastDueSince?.toISOString() ?? null },
        })),
      );
      await sql`insert into subscription (id, "referenceId", plan, status, "periodEnd", "pastDueSince")
        select id, organization, plan, status, ends, due
        from json_to_recordset(${JSON.stringify(rows)}::json)
          as row (id text, organization text, plan text, status text, ends timestamptz, due timestamptz)`.execute(db);
      const { rows: found } = await sql<{ plan: string }>`
        select organization_plan('o' || n, ${dunningDays}) as plan from generate_series(0, ${cases.length - 1}) n order by n`.execute(db);
      const wrong = cases.filter(({ expected }, index) => found[index]?.plan !== expected);
      expect(wrong.map(({ name }) => name)).to.deep.equal([]);
    });
  });

  describe('in SQL, while the clocks of the server change', () => {
    for (const [timeZone, dueAt] of [
      ['America/New_York', '2027-03-05T00:00:00Z'],
      ['America/New_York', '2027-10-30T12:00:00Z'],
      ['Pacific/Kiritimati', '2028-02-20T10:00:00Z'],
    ] as const) {
      it(`ends after ${dunningDays} days of 24 hours from ${dueAt}, in ${timeZone}`, async () => {
        const clocked = await createClockedDatabase({ poolSize: 1, timeZone });
        try {
          const pastDueSince = new Date(dueAt);
          const subscription = { plan: 'pro', status: 'past_due', pastDueSince, periodEnd: null };
          await clocked.db.insertInto('organization').values({ id: 'o', name: 'O', slug: 'oo' }).execute();
          await clocked.db
            .insertInto('subscription')
            .values({ id: 's', referenceId: 'o', ...subscription })
            .execute();
          const plans: unknown[] = [];
          for (const ms of [-1, 0]) {
            const moment = new Date(pastDueSince.getTime() + dunningDays * day + ms);
            await clocked.setTime(moment);
            const { rows } = await sql<{ plan: string }>`select organization_plan('o', ${dunningDays}) as plan`.execute(clocked.db);
            plans.push([effectivePlan([subscription], { now: moment, dunningDays }), rows[0]?.plan]);
          }
          expect(plans).to.deep.equal([
            ['pro', 'pro'],
            ['free', 'free'],
          ]);
        } finally {
          await clocked.drop();
        }
      });
    }
  });
});
