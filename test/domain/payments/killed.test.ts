import { expect } from 'chai';
import { type KilledCall, killedCalls } from './support/killed-calls.ts';
import { KilledService, type Moment, moments, type Subject } from './support/killed-service.ts';

const described: Record<Moment, string> = {
  arrived: 'Killed before Stripe has done it',
  done: "Killed between Stripe's answer and the commit",
  committed: 'Killed after the commit',
};

/** A call of a subject, and whether its client tries again. */
interface Case {
  call: KilledCall;
  subject: Subject;
  again: boolean;
}

/** What has become of everything that was killed at one moment. */
interface Scene {
  service: KilledService;
  cases: Case[];
  /** Has paid, and the comparison that was to make its row was killed, too. */
  lost: Subject;
}

describe('Each call that moves money or changes something at Stripe', () => {
  // All three at once: they mostly wait for Temporal to notice that a worker is gone.
  const scenes = new Map<Moment, Promise<Scene>>();
  before(() => {
    for (const moment of moments) scenes.set(moment, play(moment));
    return Promise.all(scenes.values());
  }).timeout(400_000);
  after(async () => {
    for (const scene of await Promise.allSettled(scenes.values())) if (scene.status === 'fulfilled') await scene.value.service.stop();
  });

  for (const moment of moments) {
    describe(described[moment], () => {
      for (const call of killedCalls) {
        const end = call.ends[moment];
        if (end === undefined) continue;
        it(`${call.name}: ${end}`, async () => {
          const { service, cases } = (await scenes.get(moment)) as Scene;
          for (const { subject, again } of cases.filter((each) => each.call === call)) {
            await call.check(service, subject, { moment, again });
          }
        }).timeout(120_000);
      }

      it('the daily comparison itself: the next one makes the row that was missing', async () => {
        const { service, lost } = (await scenes.get(moment)) as Scene;
        expect(await service.row(lost)).to.include({ plan: 'pro', status: 'active', referenceId: lost.organizationId });
      });

      it('and then nothing differs from Stripe', async () => {
        const { service } = (await scenes.get(moment)) as Scene;
        const { different, seats } = await service.reconcile();
        expect({ different, seats }).to.deep.equal({ different: [], seats: [] });
      });
    });
  }
});

async function play(moment: Moment): Promise<Scene> {
  const service = await KilledService.start();
  return await playOn(service, moment).catch(async (error: unknown) => {
    await service.stop();
    throw error;
  });
}

async function playOn(service: KilledService, moment: Moment): Promise<Scene> {
  const cases: Case[] = [];
  for (const call of killedCalls.filter(({ ends }) => ends[moment] !== undefined)) {
    for (const again of [true, false]) cases.push({ call, again, subject: await call.prepare(service) });
  }
  await service.killAt(
    moment,
    cases.map(({ call, subject }) => ({
      name: call.name,
      isIt: (request) => call.isIt(service, subject, request),
      stored: () => call.stored?.(service, subject) ?? subject.subscription,
      act: () => call.act(service, subject),
    })),
  );
  await Promise.all(cases.map(({ call, subject, again }) => again && call.act(service, subject)));
  const lost = await service.addSubject('customer');
  const { customer, organizationId: referenceId } = lost;
  lost.subscription = service.stripe.state.subscribe({ customer, prices: [['price_pro', 1]], metadata: { referenceId } }).id;
  const isIt = (request: string) => request === `GET /v1/subscriptions/${lost.subscription}`;
  await service.killAt(moment, [{ name: 'reconcile', isIt, stored: () => lost.subscription, act: () => service.startReconciliation() }]);
  await service.reconcile();
  return { service, cases, lost };
}
