import { expect } from 'chai';
import { createEmbeddingPrice } from '../../domain/search/embedding-price.ts';

describe('Whether the embedding of a query costs a credit', () => {
  const realNow = Date.now;
  let now = 0;
  let provider: string | undefined;
  const ai = {
    async health() {
      if (provider === undefined) throw new Error('down');
      return { provider, embeddings: [{ model: 'remote-model' }, { model: 'local-hash-256' }] };
    },
  };
  beforeEach(() => {
    now = 1_000_000;
    Date.now = () => now;
  });
  afterEach(() => {
    Date.now = realNow;
  });

  it('is asked once a minute', async () => {
    const costsCredit = createEmbeddingPrice(ai);
    provider = 'local';
    expect(await costsCredit()).to.equal(false);
    provider = 'remote';
    now += 60_000;
    expect(await costsCredit()).to.equal(false);
    now += 1;
    expect(await costsCredit()).to.equal(true);
  });

  it('is no while the service does not say, also after a remote provider', async () => {
    const costsCredit = createEmbeddingPrice(ai);
    const ask = async (next: string | undefined) => {
      provider = next;
      now += 60_001;
      return await costsCredit();
    };
    expect(await ask(undefined)).to.equal(false);
    expect(await ask('remote')).to.equal(true);
    expect(await ask(undefined)).to.equal(false);
    expect(await ask('remote')).to.equal(true);
  });

  it('is no for a workspace that a local model embeds for, if the service has it, and yes for another one', async () => {
    const costsCredit = createEmbeddingPrice(ai);
    provider = 'remote';
    const models = ['local-hash-256', 'local-gone', 'remote-model', undefined];
    expect(await Promise.all(models.map((model) => costsCredit(model)))).to.deep.equal([false, true, true, true]);
  });
});
