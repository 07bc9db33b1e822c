import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { type BesideOptions, startBeside } from '../../start-beside.ts';
import type { Fault, FaultContext } from '../fault.ts';
import { withHook } from '../hooks/with-hook.ts';
import type { Tenant } from '../tenant.ts';

/** An API and a worker whose clocks are five minutes fast, and then slow, work beside those of the stack. */
export const clockSkew: Fault = {
  name: 'clock-skew',
  runs: { full: 1, short: 0 },
  async inject(context) {
    let duplicated = 0;
    for (const minutes of [5, -5]) {
      const env = withHook('shift-clock.ts', { DRILL_CLOCK_SHIFT_MS: String(minutes * 60_000) });
      duplicated += await workBeside(context, { env });
    }
    return { duplicated };
  },
};

/** The API and the worker of another release, whose directory `--other` names, work beside those of this one. */
export const twoVersions: Fault = {
  name: 'two-versions',
  runs: { full: 1, short: 0 },
  needsOther: true,
  async inject(context) {
    if (context.other === undefined) throw new Error('two-versions needs --other=DIRECTORY, a directory with another release.');
    return { duplicated: await workBeside(context, { root: context.other }) };
  },
};

const rounds = 3;

/** Starts another API and worker, and uses both APIs for the same things. Returns how many jobs were created twice. */
async function workBeside({ service, tenants }: FaultContext, options: BesideOptions): Promise<number> {
  const worker = await startBeside(service.stack, 'worker', options);
  const api = await startBeside(service.stack, 'api', options).catch(async (error) => {
    await worker.stop();
    throw error;
  });
  let twice = 0;
  try {
    for (let round = 0; round < rounds; round++) {
      for (const tenant of tenants) twice += await useBoth(tenant, tenant.at(api.url));
    }
    await delay(2_000);
  } finally {
    await api.stop();
    await worker.stop();
  }
  return twice;
}

/** One API signs an upload that the other one receives; a request that is repeated at the other one creates one job. */
async function useBoth(here: Tenant, there: Tenant): Promise<number> {
  const documentId = await there.upload('Two clocks on one pier show two times.');
  await here.createJob({ kind: 'document.index', documentId });
  const key = randomUUID();
  const ids = [await there.createJob({ kind: 'text.embed' }, key), await here.createJob({ kind: 'text.embed' }, key)];
  await there.deleteDocument(await here.upload('A document that the other one deletes.'));
  return new Set(ids).size - 1;
}
