import { setTimeout as delay, setImmediate as nextTurn } from 'node:timers/promises';
import { expect } from 'chai';
import { SearchTurns } from '../../api/limits/search-turns.ts';
import { TurnsTaken } from '../../api/limits/turns-taken.ts';
import { Neighbours } from '../../concurrency/neighbours.ts';
import type { Rest } from '../../domain/scan-pace.ts';
import { until } from '../support/processes.ts';

describe('The share of an organization’s searches', () => {
  const { signal } = new AbortController();
  const hour = 3_600_000;

  /** Turns in a process that serves these organizations, and searches that say when they begin and end when they are told to. */
  function start(served: string[], options: { share?: number; waitMs?: number } = {}) {
    const neighbours = new Neighbours(hour);
    for (const organization of served) neighbours.note(organization);
    const turns = new SearchTurns({ perOrganization: 4, share: 0.5, waitMs: hour, neighbours, ...options });
    const begun: string[] = [];
    const search = (organization: string, name: string) => {
      const end = Promise.withResolvers<void>();
      const begins = Promise.withResolvers<Rest>();
      const work = (rest: Rest) => {
        begun.push(name);
        begins.resolve(rest);
        return end.promise;
      };
      return { begins: begins.promise, end: () => end.resolve(), done: turns.share(organization, signal, work) };
    };
    return { begun, search };
  }

  async function afterMuchElse(): Promise<void> {
    for (let turn = 0; turn < 20; turn++) await nextTurn();
  }

  it('is one search after another, with a rest after each, while others are served', async () => {
    const { begun, search } = start(['loud', 'quiet'], { share: 0.000_001 });
    const [first, second, other] = [search('loud', 'first'), search('loud', 'second'), search('quiet', 'other')];
    await afterMuchElse();
    expect(begun).to.deep.equal(['first', 'other']);
    first.end();
    await first.done;
    await afterMuchElse();
    expect(begun).to.deep.equal(['first', 'other']);
    await until(() => begun.includes('second'));
    for (const { end, done } of [second, other]) {
      end();
      await done;
    }
  });

  it('is all there is if nobody else is served, or it is 1', async () => {
    for (const { begun, search } of [start(['loud']), start(['loud', 'quiet'], { share: 1 })]) {
      const searches = ['first', 'second', 'third'].map((name) => search('loud', name));
      await afterMuchElse();
      expect(begun).to.have.length(3);
      for (const { end } of searches) end();
      await Promise.all(searches.map(({ done }) => done));
    }
  });

  it('is kept in every step of a search that had to wait for another, and by the first one when it has ended', async () => {
    const share = 0.25;
    const workMs = 40;
    const { search } = start(['loud', 'quiet'], { share });
    const [first, second] = [search('loud', 'first'), search('loud', 'second')];
    const restAfterWork = async (rest: Rest) => {
      await delay(workMs);
      const startedAt = performance.now();
      await rest();
      return performance.now() - startedAt;
    };
    const dueMs = workMs * (1 / share - 1) * 0.9;
    expect(await restAfterWork(await first.begins)).to.be.lessThan(dueMs);
    const endedAt = performance.now();
    first.end();
    const rest = await second.begins;
    expect(performance.now() - endedAt).to.be.greaterThan(dueMs);
    for (const step of ['first', 'second']) expect(await restAfterWork(rest), step).to.be.greaterThan(dueMs);
    second.end();
    await Promise.all([first.done, second.done]);
  });

  it('is waited for as long as a turn', async () => {
    const { begun, search } = start(['loud', 'quiet'], { waitMs: 20 });
    const [first, second] = [search('loud', 'first'), search('loud', 'second')];
    const error = await second.done.catch((caught: unknown) => caught);
    expect(error).to.be.instanceOf(TurnsTaken);
    expect(error).to.include({ code: 'SERVICE_UNAVAILABLE', retryAfterSeconds: 2 });
    expect(begun).to.deep.equal(['first']);
    first.end();
    await first.done;
  });
});
