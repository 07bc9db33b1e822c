import { setTimeout as delay } from 'node:timers/promises';
import type { Tenant } from './tenant.ts';

/** What the tenants do while faults happen. */
export interface Load {
  /** Starts nothing more, and waits until every request under way is answered. Throws what a request threw. */
  stop(): Promise<void>;
}

const pauseMs = 1_500;
const sentence = 'The keeper of the lighthouse writes down wind, tide and every ship that passes the cape before dark. ';

/** Each tenant uploads, creates a job of every kind, and deletes every third document while its jobs are under way, until it is stopped. */
export function startLoad(tenants: Tenant[]): Load {
  let stopped = false;
  const loops = tenants.map(async (tenant) => {
    for (let round = 0; !stopped; round++) {
      const documentId = await tenant.upload(sentence.repeat(30 + (round % 5)));
      for (const kind of ['document.index', 'document.extract', 'document.summarize', 'document.index']) {
        await tenant.createJob({ kind, documentId });
      }
      for (const kind of ['text.summarize', 'text.embed']) await tenant.createJob({ kind });
      if (round % 3 === 2) await tenant.deleteDocument(documentId);
      await delay(pauseMs);
    }
  });
  // Seen when the load is stopped; until then it must not end the process.
  for (const loop of loops) loop.catch(() => {});
  return {
    async stop() {
      stopped = true;
      await Promise.all(loops);
    },
  };
}
