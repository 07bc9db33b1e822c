import { expect } from 'chai';
import { nightlySuite } from '../../support/nightly.ts';
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
  cases: Case[];
  /** Has paid, and the comparison that was to make its row was killed, too. */
  lost: Subject;
}

describe('Each call that moves money or changes something at Stripe', () => {
  for (const moment of moments) {
    // In the other two moments one of the sides knows of nothing.
    const suite = moment === 'done' ? describe : nightlySuite;
    suite(described[moment], () => {
      let service: KilledService;
      let scene: Scene;
      before(async () => {
        service = await KilledService.start();
        scene = await play(service, moment);
      }).timeout(400_000);
      after(() => service?.stop());

      for (const call of killedCalls) {
        const end = call.ends[moment];
        if (end === undefined) continue;
        it(`${call.name}: ${end}`, async () => {
          for (const { subject, again } of scene.cases.filter((each) => each.call === call)) {
            await call.check(service, subject, { moment, again });
          }
        }).timeout(120_000);
      }

      it('the daily comparison itself: the next one makes the row that was missing', async () => {
        const { organizationId: referenceId } = scene.lost;
        expect(await service.row(scene.lost)).to.include({ plan: 'pro', status: 'active', referenceId });
      });

      it('and then nothing differs from Stripe', async () => {
        const { different, seats } = await service.reconcile();
        expect({ different, seats }).to.deep.equal({ different: [], seats: [] });
      });
    });
  }
});

async function play(service: KilledService, moment: Moment): Promise<Scene> {
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
  return { cases, lost };
}
