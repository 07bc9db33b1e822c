import { expect } from 'chai';
import type { AiClient } from '../../ai/client.ts';
import { createEmbeddingPrice } from '../../domain/search/embedding-price.ts';

describe('The price of an embedding', () => {
  const realNow = Date.now;
  let now = 0;
  let provider: string | undefined;
  const ai = {
    async health() {
      if (provider === undefined) throw new Error('down');
      return { provider, embeddings: [{ model: 'remote-model' }, { model: 'local-hash-256' }] };
    },
  } as unknown as AiClient;
  beforeEach(() => {
    now = 1_000_000;
    Date.now = () => now;
  });
  afterEach(() => {
    Date.now = realNow;
  });

  it('is asked for once a minute', async () => {
    const price = createEmbeddingPrice(ai);
    provider = 'local';
    expect(await price()).to.equal('free');
    provider = 'remote';
    now += 60_000;
    expect(await price()).to.equal('free');
    now += 1;
    expect(await price()).to.equal('charged');
  });

  it('is nothing while the provider was never known, and not known again after a remote one fell silent', async () => {
    const price = createEmbeddingPrice(ai);
    const priceOf = async (next: string | undefined) => {
      provider = next;
      now += 60_001;
      return await price();
    };
    expect(await priceOf(undefined)).to.equal('free');
    expect(await priceOf('remote')).to.equal('charged');
    expect(await priceOf(undefined)).to.equal('unknown');
    expect(await priceOf('local')).to.equal('free');
    expect(await priceOf(undefined)).to.equal('free');
  });

  it('is nothing for a workspace that a local model embeds for, if the service has it, and not for another one', async () => {
    const price = createEmbeddingPrice(ai);
    provider = 'remote';
    expect([await price('local-hash-256'), await price('local-gone'), await price('remote-model'), await price()]).to.deep.equal([
      'free',
      'charged',
      'charged',
      'charged',
    ]);
  });
});
