import { setTimeout as delay } from 'node:timers/promises';
import type { Fault } from '../fault.ts';

const burst = 12;

/**
 * The API is killed in the middle of a burst of `jobs.create`: some requests have committed, and their intents have not reached
 * Temporal; of some the answer is lost, and they are sent again. Each run kills it at another moment.
 */
export const apiKilled: Fault = {
  name: 'api-killed',
  runs: { full: 8, short: 2 },
  async inject({ service: { stack }, tenants }) {
    const requests = tenants.flatMap((tenant) =>
      Array.from({ length: burst / tenants.length }, () => tenant.createJob({ kind: 'text.embed' })),
    );
    for (const request of requests) request.catch(() => {});
    await delay(Math.random() * 80);
    await stack.kill('api');
    await stack.start('api');
    await Promise.all(requests);
    return undefined;
  },
};
