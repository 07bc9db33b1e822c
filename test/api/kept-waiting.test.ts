import { EventEmitter } from 'node:events';
import { expect } from 'chai';
import type { Response } from 'express';
import { KeptWaiting } from '../../api/limits/kept-waiting.ts';

describe('A client that is kept waiting', () => {
  const respond = () => Object.assign(new EventEmitter(), { closed: false, writableFinished: false }) as unknown as Response;
  const within = (promise: Promise<void>, ms: number) =>
    Promise.race([promise.then(() => 'over'), new Promise((resolve) => setTimeout(resolve, ms, 'waits'))]);

  it('waits, until it leaves', async () => {
    const res = respond();
    const wait = new KeptWaiting().keep(res);
    expect(await within(wait, 50)).to.equal('waits');
    res.emit('close');
    await wait;
  });

  it('does not wait if a thousand others do', async () => {
    const kept = new KeptWaiting();
    const responses = Array.from({ length: 1_000 }, respond);
    const waits = responses.map((res) => kept.keep(res));
    await kept.keep(respond());
    expect(await within(Promise.race(waits), 1)).to.equal('waits');
    for (const res of responses) res.emit('close');
    await Promise.all(waits);
    const again = kept.keep(responses[0] as Response);
    expect(await within(again, 50)).to.equal('waits');
    await again;
  });
});
