import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import type { Request, Response } from 'express';
import { memoryBytes } from '../../ai/sandbox/memory-bounds.ts';
import { ProcessPool } from '../../ai/sandbox/process-pool.ts';
import { readTenant } from '../../ai/tenant.ts';
import { loadAiServiceConfig } from '../../base/config/ai-service.ts';
import { childrenOf, until } from '../support/processes.ts';

const entry = new URL('./support/endless-child.ts', import.meta.url);
const timeoutMs = 60_000;

describe('A pool of processes', () => {
  let pool: ProcessPool;
  before(() => {
    pool = new ProcessPool({ entry, size: 1, heapMegabytes: 64, memoryBytes: 512 * 2 ** 20 });
  });
  after(() => pool.close());

  const run = (text: string, options = {}) => pool.run<string>('summarize', { text }, { timeoutMs, ...options });

  it('serves tasks first come, first served, one in a process', async () => {
    const ended: string[] = [];
    await Promise.all(['a', 'b', 'c', 'd'].map(async (text) => ended.push(await run(text))));
    expect(ended).to.deep.equal(['a', 'b', 'c', 'd']);
  });

  it('ends a task that takes too long, and one whose caller leaves, with its process, and goes on', async () => {
    expect(await run('endless', { timeoutMs: 300 }).catch((error: unknown) => error)).to.include({ reason: 'timeout' });
    const leaving = new AbortController();
    const left = run('endless', { signal: leaving.signal }).catch((error: unknown) => error);
    await until(() => pool.load.running === 1);
    const waiting = run('waiting', { signal: leaving.signal }).catch((error: unknown) => error);
    expect(pool.load).to.deep.equal({ running: 1, waiting: 1 });
    leaving.abort('left');
    expect(await Promise.all([left, waiting])).to.deep.equal(['left', 'left']);
    expect(await run('well')).to.equal('well');
    expect(pool.load).to.deep.equal({ running: 0, waiting: 0 });
  });

  it('replaces a process after some tasks', async () => {
    const few = new ProcessPool({ entry, size: 1, heapMegabytes: 64, memoryBytes: 512 * 2 ** 20, maxTasks: 3 });
    try {
      const known = new Set(childrenOf(process.pid).map(({ pid }) => pid));
      for (let task = 0; task < 3; task++) expect(await few.run('summarize', { text: 'well' }, { timeoutMs })).to.equal('well');
      expect(await few.run('summarize', { text: 'after' }, { timeoutMs })).to.equal('after');
      const fresh = childrenOf(process.pid).filter(({ pid, command }) => command.includes('endless-child.ts') && !known.has(pid));
      expect(fresh).to.have.length(1);
    } finally {
      await few.close();
    }
  });

  /** Runs a task for a tenant. */
  const runFor = (tenant: string, text: string, options = {}) =>
    new Promise<string>((resolve) => {
      readTenant({ get: () => tenant } as unknown as Request, {} as Response, () => resolve(run(text, options)));
    });

  it('lets only so many tasks of a tenant wait', async () => {
    const leaving = new AbortController();
    const signal = leaving.signal;
    const held = Array.from({ length: 513 }, () => runFor('loud', 'endless', { signal }).catch((error: unknown) => error));
    await until(() => pool.load.waiting === 512);
    const refused = await runFor('loud', 'one more').catch((error: unknown) => error);
    expect(refused).to.include({ status: 503, code: 'busy', retryAfterSeconds: 2 });
    const other = runFor('quiet', 'well');
    leaving.abort('left');
    expect(await other).to.equal('well');
    expect(new Set(await Promise.all(held))).to.deep.equal(new Set(['left']));
  });

  it('refuses tasks once it is closed', async () => {
    const closed = new ProcessPool({ entry, size: 1, heapMegabytes: 64, memoryBytes: 512 * 2 ** 20 });
    const running = ['endless', 'waiting'].map((text) =>
      closed.run('summarize', { text }, { timeoutMs }).catch((error: { reason: string }) => error.reason),
    );
    await closed.close();
    expect(await Promise.all(running)).to.deep.equal(['unavailable', 'unavailable']);
  });
});

it('the default numbers of processes fit into the memory that docker-compose.yml gives the service', () => {
  const [, gigabytes] = /\n {2}ai:[\s\S]*?mem_limit: \$\{AI_MEMORY:-(\d+)g\}/.exec(readFileSync('docker-compose.yml', 'utf8')) ?? [];
  const { readers, recognizers } = loadAiServiceConfig({ SERVICE_TOKEN: 'secret' });
  const { service, reader, recognizer, tesseract, embedder, answerer } = memoryBytes;
  expect(service + readers * reader + recognizers * (recognizer + tesseract) + embedder + answerer).to.be.at.most(
    Number(gigabytes) * 2 ** 30,
  );
});
