import { setTimeout as delay } from 'node:timers/promises';
import type { Refusal } from '../ai-proxy.ts';
import type { Fault, OutageReport } from '../fault.ts';
import { listUnfinished, queueJobs, untilEnded } from '../queue-jobs.ts';
import { type Service, workerConcurrency } from '../service.ts';
import { restart } from './processes.ts';
import { Provider } from './provider.ts';

const killedMs = 500;
const longest = 1_800_000;
/** The limit of the provider has to be used to this share. */
const leastOfLimit = 0.9;

const refusals: Record<'away' | 'key', Refusal> = { away: refusal('embed', 'failing'), key: refusal('chat', 'refused') };

function refusal(role: string, state: string): Refusal {
  return { status: 502, body: { error: { code: 'remote_failed', message: 'drill', provider: { role, state } } } };
}

/**
 * The provider of `embed` is down while three tenants queue jobs, and the worker is killed then. Once it is back, its limit refuses what is too
 * much and every third call. The key of `chat` is bad then, which stops nobody else. No job fails, and only those that ran when something broke are
 * tried again.
 */
export const providerOutage: Fault = {
  name: 'provider-outage',
  // Its share of a limit is a figure of a calm machine, so no test runs it.
  runs: { full: 1, short: 0 },
  isAlone: true,
  async inject(context) {
    const { service, short } = context;
    const tenants = [...context.tenants, context.quiet];
    const provider = new Provider({ perSecond: short ? 8 : 20 });
    let isKeyBad = false;
    service.ai.watch = (path, ended) => {
      if (path.includes('summarize')) return isKeyBad ? refusals.key : undefined;
      return path.includes('embed') ? provider.answer(ended, refusals.away) : undefined;
    };
    try {
      const brokeAt = performance.now();
      const away = delay(short ? 3_000 : 60_000);
      const ids = await queueJobs(tenants, 'text.embed', short ? 60 : 1_667);
      // A role whose provider is there works all the while.
      const summaries = await queueJobs(tenants, 'text.summarize', 1);
      const isOtherRoleServed = await untilEnded(service, summaries);
      isKeyBad = true;
      const keyless = await queueJobs(tenants, 'text.summarize', 1);
      await untilWaiting(service, keyless);
      await restart(context, 'worker', killedMs);
      await away;
      const callsWhileDown = provider.comeBack();
      const mostCalls = mostCallsIn(performance.now() - brokeAt);
      await untilEnded(service, ids);
      const held = (await listUnfinished(service, keyless)).length;
      isKeyBad = false;
      const all = [...ids, ...summaries, ...keyless];
      await untilEnded(service, all);
      const outage = { jobs: all.length, ...(await countJobs(service, all)), callsWhileDown, ...provider.measure() };
      const stuck = Number(!isOtherRoleServed) + (keyless.length - held) + tooMuch(outage);
      return { lost: outage.failed, stuck, duplicated: tooOften(outage, mostCalls), outage };
    } finally {
      service.ai.watch = undefined;
    }
  },
};

/** Waits until all of these jobs wait for a provider. */
async function untilWaiting({ db }: Service, ids: string[]): Promise<void> {
  for (const deadline = Date.now() + longest; Date.now() < deadline; await delay(100)) {
    const jobs = await db.selectFrom('job').select('waiting_since').where('id', 'in', ids).execute();
    if (jobs.every(({ waiting_since: since }) => since !== null)) return;
  }
}

async function countJobs({ db }: Service, ids: string[]): Promise<Pick<OutageReport, 'failed' | 'triedAgain'>> {
  const jobs = await db.selectFrom('job').select(['status', 'attempts']).where('id', 'in', ids).execute();
  return {
    failed: ids.length - jobs.filter(({ status }) => status === 'succeeded').length,
    triedAgain: jobs.filter(({ attempts }) => attempts > 1).length,
  };
}

/** More calls at once than attempts run, or fewer than the limit allows. */
function tooMuch({ mostAtOnce, ofLimit }: OutageReport): number {
  return Number(mostAtOnce > workerConcurrency) + Number(ofLimit < leastOfLimit);
}

/** While it is down a provider is called by the attempts that ran when it broke or the worker was killed, and by a probe a second. */
function mostCallsIn(ms: number): number {
  return 2 * workerConcurrency + ms / 1_000;
}

/** The attempts that ran when the provider broke, when the worker was killed and when the key was refused may be repeated, and no other. */
function tooOften({ triedAgain, callsWhileDown }: OutageReport, mostCalls: number): number {
  return Math.max(0, triedAgain - 3 * workerConcurrency) + Number(callsWhileDown > mostCalls);
}
