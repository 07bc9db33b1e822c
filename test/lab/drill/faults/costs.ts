import { setTimeout as delay } from 'node:timers/promises';
import { chat, type RemoteAnswer, type RemoteRequest, startRemoteModel, withKey } from '../../../ai/support/remote-model.ts';
import type { Fault, Violations } from '../fault.ts';
import { untilEnded } from '../queue-jobs.ts';
import type { Service } from '../service.ts';
import { restart, untilRunning } from './processes.ts';

const jobs = 100;
const kills = 3;
/** Long enough that a kill finds calls without an answer. */
const answerMs = 400;

/**
 * A provider answers `chat`, and keeps its own account of each call, while the worker is killed. Each call has to have one row of what it cost,
 * with the provider's tokens; only one that a kill has cut may be without them.
 */
export const costsKilled: Fault = {
  name: 'costs-killed',
  runs: { full: 1, short: 0 },
  isAlone: true,
  async inject(context) {
    const { service, quiet } = context;
    const account = new Account();
    const remote = await startRemoteModel();
    remote.answer = (request) => account.answer(request);
    try {
      await service.stack.restart('ai', { REMOTE_AI_CHAT: `${withKey(remote.baseUrl, 'key')}?model=talker` });
      // A worker believes for a minute what the AI service said of its providers.
      await service.stack.restart('worker');
      const ids: string[] = [];
      for (let page = 0; page < jobs; page++)
        ids.push(await quiet.createJob({ kind: 'text.summarize', text: `Page ${page}. The tide turns.` }));
      for (let kill = 0; kill < kills; kill++) {
        await untilRunning(context, 4);
        await delay(Math.random() * answerMs);
        await restart(context, 'worker', 500);
      }
      await untilEnded(service, ids);
      return await compare(service, account, ids);
    } finally {
      await service.stack.restart('ai');
      await service.stack.restart('worker');
      await remote.stop();
    }
  },
};

/** What a provider has counted. The tokens of a call are a number of its own, by which its row is known. */
class Account {
  /** The tokens of the calls, by the page that they asked about. */
  readonly tokens = new Map<number, number[]>();
  #calls = 0;

  async answer({ body }: RemoteRequest): Promise<RemoteAnswer> {
    const page = Number(/Page (\d+)\./.exec(JSON.stringify(body))?.[1]);
    const input = 1_000 + this.#calls++;
    this.tokens.set(page, [...(this.tokens.get(page) ?? []), input]);
    await delay(answerMs);
    const answer = chat('The tide turns.') as Exclude<RemoteAnswer, 'hang'>;
    return { ...answer, body: { ...(answer.body as object), usage: { prompt_tokens: input, completion_tokens: 1 } } };
  }
}

async function compare({ db }: Service, account: Account, ids: string[]): Promise<Violations> {
  const rows = await db.selectFrom('provider_call').selectAll().where('purpose_id', 'in', ids).execute();
  const ended = await db.selectFrom('job').select(['id', 'status', 'attempts']).where('id', 'in', ids).execute();
  let [lost, duplicated] = [0, 0];
  for (const { id, status, attempts } of ended) {
    const counted = account.tokens.get(ids.indexOf(id)) ?? [];
    const own = rows.filter(({ purpose_id: jobId }) => jobId === id);
    const known = own.filter(({ unreported_calls: unreported }) => unreported === 0).map(({ input_tokens: tokens }) => tokens);
    // The answer to the last attempt has arrived, since the job has ended well.
    const unknownAtEnd = own.filter((row) => row.unreported_calls > 0 && row.attempt === attempts);
    lost += Number(status !== 'succeeded') + Math.max(0, counted.length - own.length) + unknownAtEnd.length;
    duplicated += own.length - new Set(own.map(({ attempt }) => attempt)).size;
    duplicated += known.length - new Set(known).intersection(new Set(counted)).size;
  }
  return { lost, duplicated };
}
