import { expect } from 'chai';
import { delayAfter } from '../../../domain/webhooks/attempt.ts';

const hourMs = 3_600_000;

describe('The wait after an attempt of a webhook', () => {
  const delaysMs = [1_000, 48 * hourMs];

  it('is the one that is set, up to a tenth longer, and none after the last', () => {
    expect(delayAfter(1, delaysMs)).to.be.within(1_000, 1_100);
    expect(delayAfter(2, delaysMs)).to.be.within(48 * hourMs, 53 * hourMs);
    expect(delayAfter(3, delaysMs)).to.equal(undefined);
  });

  it('is longer if the receiver asks for it, by up to a day, and never shorter', () => {
    expect(delayAfter(1, delaysMs, hourMs)).to.be.within(hourMs, 1.1 * hourMs);
    expect(delayAfter(1, delaysMs, 100 * hourMs)).to.be.within(24 * hourMs, 26.4 * hourMs);
    expect(delayAfter(2, delaysMs, hourMs)).to.be.within(48 * hourMs, 53 * hourMs);
  });
});
