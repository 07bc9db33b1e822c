import { expect } from 'chai';
import { forEachAtOnce } from '../../../clients/typescript/cli/at-once.ts';

describe('forEachAtOnce', () => {
  async function* numbers() {
    for (let number = 0; number < 10; number++) yield number;
  }
  const never = new AbortController().signal;

  it('does so many steps at once, and all of them', async () => {
    const done: number[] = [];
    let [now, most] = [0, 0];
    await forEachAtOnce(numbers(), { concurrency: 3, stopping: never }, async (number) => {
      now += 1;
      most = Math.max(most, now);
      await new Promise(setImmediate);
      now -= 1;
      done.push(number);
    });
    expect(done.sort()).to.deep.equal([0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
    expect(most).to.equal(3);
  });

  it('begins nothing after an error, and throws it once what is under way has ended', async () => {
    const failed = Promise.withResolvers<void>();
    const begun: number[] = [];
    const ended: number[] = [];
    const all = forEachAtOnce(numbers(), { concurrency: 2, stopping: never }, async (number) => {
      begun.push(number);
      if (number === 0) {
        failed.resolve();
        throw new Error('the first');
      }
      await failed.promise;
      await new Promise(setImmediate);
      ended.push(number);
    });
    expect(await all.catch((error) => error.message)).to.equal('the first');
    expect({ begun, ended }).to.deep.equal({ begun: [0, 1], ended: [1] });
  });

  it('begins nothing once it is to stop', async () => {
    const stopping = new AbortController();
    const begun: number[] = [];
    await forEachAtOnce(numbers(), { concurrency: 1, stopping: stopping.signal }, async (number) => {
      begun.push(number);
      if (number === 2) stopping.abort();
    });
    expect(begun).to.deep.equal([0, 1, 2]);
  });
});
