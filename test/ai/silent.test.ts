import { expect } from 'chai';
import { AiServiceError, createAiClient } from '../../adapters/ai-service/client.ts';
import { type FakeAi, goodAnswer, startFakeAi } from '../support/fake-ai.ts';
import { startTcpProxy, type TcpProxy } from '../support/tcp-proxy.ts';

describe('A call of the AI service', () => {
  let ai: FakeAi;
  let proxy: TcpProxy;
  // Each test has a way of its own: a connection that the one before left open would stay silent once it is forgotten.
  beforeEach(async () => {
    ai = await startFakeAi();
    proxy = await startTcpProxy({ host: '127.0.0.1', port: Number(new URL(ai.url).port) });
  });
  afterEach(async () => {
    await proxy.stop();
    await ai.stop();
  });

  const client = () => createAiClient({ baseUrl: `http://127.0.0.1:${proxy.port}`, token: ai.env.SERVICE_TOKEN ?? '' });

  for (const forget of [false, true]) {
    it(`fails soon while nothing passes, over a connection that is ${forget ? 'new' : 'old'}, and not before its patience is over`, async () => {
      const one = client();
      if (!forget) await one.embed({ texts: ['before'] });
      proxy.silence();
      try {
        const startedAt = performance.now();
        const outcomes = await Promise.all(
          [800, 1_500].map((patienceMs) =>
            one.embed({ texts: ['during'], patienceMs }).then(
              () => undefined,
              (error: unknown) => ({ error, ms: performance.now() - startedAt, patienceMs }),
            ),
          ),
        );
        for (const outcome of outcomes) {
          expect(outcome?.error).to.be.an.instanceof(AiServiceError).that.includes({ kind: 'unreachable', retryable: true });
          expect(outcome?.ms).to.be.at.least((outcome?.patienceMs ?? 0) - 10);
          // Without patience of its own a call waits for fifteen seconds.
          expect(outcome?.ms).to.be.lessThan(12_000);
        }
      } finally {
        proxy.resume({ forget });
      }
      expect((await one.embed({ texts: ['after'] })).vectors).to.have.length(1);
    });
  }

  it('goes on if it is only slow', async () => {
    ai.behave('embed', async (call) => {
      await new Promise((resolve) => setTimeout(resolve, 3_500));
      return goodAnswer(call);
    });
    expect((await client().embed({ texts: ['slow'], patienceMs: 2_000 })).vectors).to.have.length(1);
  });
});
