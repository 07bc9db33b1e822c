import { expect } from 'chai';
import type { Request, Response } from 'express';
import { underFairnessKey } from '../../ai/fairness-key.ts';
import { ProcessPool } from '../../ai/pool/process-pool.ts';
import { findFreePorts } from '../../local/ports.ts';
import { until } from '../support/processes.ts';
import { type AiService, startAiService } from './support/ai-service.ts';
import { makeSlowPdf } from './support/make-pdf.ts';

describe('The AI service, full of the long documents of one organization', () => {
  let service: AiService;
  let metricsPort: number | undefined;
  before(async () => {
    [metricsPort] = await findFreePorts(1);
    service = await startAiService({ AI_READERS: '2', AI_METRICS_PORT: String(metricsPort) });
  });
  after(() => service.stop());

  async function gauge(name: string): Promise<number> {
    const metrics = await (await fetch(`http://127.0.0.1:${metricsPort}/metrics`)).text();
    return Number(new RegExp(`^sheaf_ai_service_${name} (\\d+)$`, 'm').exec(metrics)?.[1]);
  }

  it('reads one of another without delay, and none more of the same', async () => {
    const leaving = new AbortController();
    const slow = makeSlowPdf();
    let read = 0;
    const extract = (body: Uint8Array, contentType: string, organizationId: string) =>
      service.client.extract({ body, contentType, organizationId, signal: leaving.signal });
    const text = Buffer.from('A short text.');
    // More than it takes into its memory.
    const long = Array.from({ length: 12 }, () =>
      extract(slow, 'application/pdf', 'loud').then(
        () => read++,
        () => {},
      ),
    );
    // One that starts counts as busy.
    await until(async () => (await gauge('readers_waiting')) > 0 && (await gauge('readers_busy')) === 2);
    const own = extract(text, 'text/plain', 'loud').then(
      () => read++,
      () => {},
    );

    for (let n = 0; n < 5; n++) expect(await extract(text, 'text/plain', 'other')).to.include({ text: 'A short text.' });
    const others = await Promise.all(['other', 'third'].map((key) => extract(text, 'text/plain', key)));
    expect(others.map((each) => each.text)).to.deep.equal(['A short text.', 'A short text.']);
    expect(read).to.equal(0);
    leaving.abort();
    await Promise.all([...long, own]);
  });
});

describe('A pool of processes', () => {
  const entry = new URL('./support/endless-child.ts', import.meta.url);
  const under = <T>(key: string, work: () => Promise<T>) =>
    new Promise<T>((resolve, reject) => {
      const request = { get: () => key } as unknown as Request;
      underFairnessKey(request, {} as Response, () => void work().then(resolve, reject));
    });

  it('lets the tasks of different keys take turns', async () => {
    const pool = new ProcessPool({ entry, size: 1, heapMegabytes: 64, memoryBytes: 512 * 2 ** 20 });
    try {
      const ended: string[] = [];
      const run = (key: string) =>
        under(key, () => pool.run('summarize', { text: key }, { timeoutMs: 60_000 })).then(() => ended.push(key));
      await run('first');
      await Promise.all(['a', 'a', 'a', 'a', 'b', 'c'].map(run));
      expect(ended.join(' ')).to.equal('first a a b c a a');
    } finally {
      await pool.close();
    }
  });

  it('has a spare process for a key that has none at work, and starts it again when it ends', async () => {
    const pool = new ProcessPool({ entry, size: 1, spare: 1, heapMegabytes: 64, memoryBytes: 512 * 2 ** 20 });
    try {
      const endless = under('a', () => pool.run('summarize', { text: 'endless' }, { timeoutMs: 60_000 })).catch(() => 'ended');
      await until(() => pool.load.running === 1);
      const waiting = under('a', () => pool.run('summarize', { text: 'well' }, { timeoutMs: 60_000 })).catch(() => 'ended');
      expect(await under('b', () => pool.run('summarize', { text: 'well' }, { timeoutMs: 60_000 }))).to.equal('well');
      const tooLong = under('b', () => pool.run('summarize', { text: 'endless' }, { timeoutMs: 200 }));
      expect(await tooLong.catch((error: unknown) => error)).to.include({ reason: 'timeout' });
      expect(await under('c', () => pool.run('summarize', { text: 'well' }, { timeoutMs: 60_000 }))).to.equal('well');
      expect(pool.load).to.deep.equal({ running: 1, waiting: 1 });
      await pool.close();
      expect(await Promise.all([endless, waiting])).to.deep.equal(['ended', 'ended']);
    } finally {
      await pool.close();
    }
  });
});
