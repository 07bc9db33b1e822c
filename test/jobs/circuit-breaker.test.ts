import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import pino from 'pino';
import { CircuitBreaker } from '../../activities/circuit-breaker.ts';
import { type AiClient, AiServiceError, createAiClient } from '../../ai/client.ts';
import { aiError, type FakeAi, goodAnswer, startFakeAi } from '../support/fake-ai.ts';
import { until } from '../support/processes.ts';

describe('The circuit breaker over the AI service', () => {
  let ai: FakeAi;
  let real: AiClient;
  /** Whether the service can be reached, by calls and by probes. */
  let reachable: boolean;
  let healthAnswers: Promise<void>;
  let breaker: CircuitBreaker;
  let client: AiClient;

  beforeEach(async () => {
    ai = await startFakeAi();
    real = createAiClient({ baseUrl: ai.url, token: 'any' });
    const gone = createAiClient({ baseUrl: 'http://127.0.0.1:1', token: 'any' });
    reachable = true;
    healthAnswers = Promise.resolve();
    const either: AiClient = {
      ...real,
      embed: (input) => (reachable ? real : gone).embed(input),
      async health() {
        await healthAnswers;
        if (!reachable) throw new Error('unreachable');
        return { ok: true } as Awaited<ReturnType<AiClient['health']>>;
      },
    };
    breaker = new CircuitBreaker(either, pino({ level: 'silent' }), { threshold: 3, probeMs: 5 });
    client = breaker.client();
  });
  afterEach(() => ai.stop());

  const call = () => client.embed({ texts: ['a'] }).catch(() => undefined);
  const never = new AbortController().signal;

  async function open(): Promise<void> {
    reachable = false;
    for (let n = 0; n < 3; n++) await call();
    expect(breaker.state).to.equal('open');
  }

  it('counts requests for the health of a service that is gone, but neither their successes nor their refusals', async () => {
    const gone = createAiClient({ baseUrl: 'http://127.0.0.1:1', token: 'any' });
    const counted = (health: AiClient['health']) => new CircuitBreaker({ ...gone, health }, pino({ level: 'silent' }), { threshold: 2 });
    const asking = counted(gone.health);
    for (let n = 0; n < 2; n++)
      await asking
        .client()
        .health()
        .catch(() => undefined);
    expect(asking.state).to.equal('open');

    const refuse = async () => {
      throw new AiServiceError({ kind: 'failed', code: 'broken', message: 'The service is broken.', retryable: true });
    };
    for (const health of [real.health, refuse]) {
      const healthy = counted(health);
      for (let n = 0; n < 2; n++) {
        const client = healthy.client();
        await client.health().catch(() => undefined);
        await client.embed({ texts: ['a'] }).catch(() => undefined);
      }
      expect(healthy.state).to.equal('open');
    }
  });

  it('is closed until three calls in a row find the service unreachable', async () => {
    reachable = false;
    await call();
    await call();
    reachable = true;
    await call();
    reachable = false;
    await call();
    await call();
    expect(breaker.state).to.equal('closed');
    await breaker.untilClosed(never);
    await call();
    expect(breaker.state).to.equal('open');
  });

  it('does not count refusals: a service that refuses is there', async () => {
    reachable = false;
    await call();
    await call();
    reachable = true;
    ai.behave('embed', () => aiError(500, 'broken'));
    await call();
    ai.behave('embed', goodAnswer);
    reachable = false;
    await call();
    expect(breaker.state).to.equal('closed');
  });

  it('holds who waits while it is open, is half-open while it probes, and closes when the service answers', async () => {
    await open();
    const probe = Promise.withResolvers<void>();
    healthAnswers = probe.promise;
    let passed = false;
    const waiting = breaker.untilClosed(never).then(() => {
      passed = true;
    });
    await until(() => breaker.state === 'half-open');
    expect(passed).to.equal(false);
    probe.resolve();
    await until(() => breaker.state === 'open');
    await sleep(20);
    expect(passed).to.equal(false);
    reachable = true;
    await waiting;
    expect(breaker.state).to.equal('closed');
  });

  it('lets go who is canceled', async () => {
    await open();
    const canceled = new AbortController();
    const waiting = breaker.untilClosed(canceled.signal).catch((reason) => reason);
    canceled.abort('canceled');
    expect(await waiting).to.equal('canceled');
    reachable = true;
    await until(() => breaker.state === 'closed');
  });
});
