import { EventEmitter } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { expect } from 'chai';
import type { Response } from 'express';
import { EarlyReturns } from '../../api/limits/early-returns.ts';

describe('A client that is told to come again', () => {
  const respond = () => Object.assign(new EventEmitter(), { closed: false, writableFinished: false }) as unknown as Response;

  /** Whether a refusal is delayed. Its client leaves then. */
  async function isDelayed(early: EarlyReturns, client: string, retryAfterSeconds = 60): Promise<boolean> {
    const res = respond();
    const refusal = early.refuse(client, retryAfterSeconds, res).then(() => false);
    const delayed = await Promise.race([refusal, delay(50, true)]);
    res.emit('close');
    await refusal;
    return delayed;
  }

  it('waits each time that it comes back earlier', async () => {
    const early = new EarlyReturns();
    expect([await isDelayed(early, 'one'), await isDelayed(early, 'one'), await isDelayed(early, 'one')]).to.deep.equal([
      false,
      true,
      true,
    ]);
    expect(await isDelayed(early, 'another')).to.equal(false);
  });

  it('does not wait if it comes back in time', async () => {
    const early = new EarlyReturns();
    await isDelayed(early, 'one', 0.1);
    await delay(150);
    expect(await isDelayed(early, 'one')).to.equal(false);
  });

  it('is forgotten for two thousand others', async () => {
    const early = new EarlyReturns();
    for (let n = 0; n < 2_000; n++) await early.refuse(`client ${n}`, 60, respond());
    expect(await isDelayed(early, 'client 0')).to.equal(true);
    await early.refuse('client 2000', 60, respond());
    expect([await isDelayed(early, 'client 1'), await isDelayed(early, 'client 0')]).to.deep.equal([true, false]);
  });
});
