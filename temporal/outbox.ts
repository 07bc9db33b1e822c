import { setTimeout as delay } from 'node:timers/promises';
import { type Client, isGrpcServiceError, WorkflowNotFoundError } from '@temporalio/client';
import { sql } from 'kysely';
import type { Logger } from 'pino';
import { pause } from '../concurrency/pause.ts';
import type { Db } from '../db/connect.ts';
import { type OutboxMessage, setDispatcher } from '../db/outbox.ts';
import { type StartSettings, startOptions } from './start-options.ts';

/** Hands committed intents to Temporal: at once in the background, and from the table whatever that missed (docs/rules.md, outbox). */
export interface Outbox {
  /** Dispatches what this process commits from now on, and relays what is left in the table, until {@link stop}. */
  start(): void;
  /** Stops both and waits for what is under way. */
  stop(): Promise<void>;
}

export interface OutboxOptions {
  db: Db;
  client: Client;
  log: Logger;
  settings: StartSettings;
}

const directDeadlineMs = 1_000;
const relayDeadlineMs = 5_000;
const mostInFlight = 256;
const relayBatch = 100;
const pollMs = 1_000;
const leaseSeconds = 15;
/** What is under way at a stop gets this long; what is left stays in the table. */
const stopMs = 1_500;
/** UNAVAILABLE, DEADLINE_EXCEEDED, RESOURCE_EXHAUSTED and CANCELLED of gRPC: they say nothing about the intent. */
const unreachableCodes = new Set([14, 4, 8, 1]);

export function createOutbox({ db, client, log, settings }: OutboxOptions): Outbox {
  const inFlight = new Set<Promise<void>>();
  const delivered: number[] = [];
  let flushing: Promise<void> | undefined;
  let reachable = true;
  let batch = relayBatch;
  const stopping = new AbortController();
  let loop: Promise<void> | undefined;

  async function deliver({ intent }: OutboxMessage, deadlineMs: number): Promise<void> {
    await client.withDeadline(Date.now() + deadlineMs, async () => {
      if (intent.operation === 'signal') {
        await client.workflow.getHandle(intent.workflowId).signal(intent.signal);
        return;
      }
      const options = startOptions(intent, settings);
      if (intent.signal === undefined) await client.workflow.start(intent.workflow, options);
      else await client.workflow.signalWithStart(intent.workflow, { ...options, signal: intent.signal, signalArgs: [] });
    });
  }

  async function dispatchOne(message: OutboxMessage): Promise<void> {
    try {
      await deliver(message, directDeadlineMs);
      await remove(message.id);
    } catch (error) {
      log.debug({ err: error, workflowId: message.intent.workflowId }, 'an intent was not dispatched at once; the relay has it');
    }
  }

  /** Deletes delivered rows, those of concurrent dispatches in one statement. */
  function remove(id: number): Promise<void> {
    delivered.push(id);
    flushing ??= (async () => {
      await new Promise((resolve) => setImmediate(resolve));
      const ids = delivered.splice(0);
      flushing = undefined;
      await db.deleteFrom('outbox').where('id', 'in', ids).execute();
    })();
    return flushing;
  }

  async function relay(): Promise<void> {
    while (!stopping.signal.aborted) {
      let more = false;
      try {
        more = await relayOnce();
      } catch (error) {
        log.warn({ err: error }, 'the outbox relay could not read its table');
      }
      if (more) continue;
      await pause(pollMs, stopping.signal);
    }
  }

  /**
   * Sends a batch, and tells whether there is more to send at once. A batch that Temporal does not take shrinks the next ones, down
   * to the one intent that asks whether it is back; they grow again as it takes them, so that its return is no second outage.
   */
  async function relayOnce(): Promise<boolean> {
    const messages = await lease(db, batch);
    const failures = (await Promise.all(messages.map(relayMessage))).filter((failure) => failure !== undefined);
    if (messages.length === 0) return false;
    const all = failures.length === 0;
    setReachable(failures.length < messages.length, failures[0]);
    const full = messages.length === batch;
    batch = all ? Math.min(relayBatch, batch * 2) : Math.max(1, Math.floor(batch / 4));
    return all && full;
  }

  /** Why Temporal could not be reached; undefined where it answered, if only with a refusal. */
  async function relayMessage(message: OutboxMessage): Promise<unknown> {
    try {
      await deliver(message, relayDeadlineMs);
      await remove(message.id);
      return undefined;
    } catch (error) {
      // A signal to a workflow that is over has nothing left to tell.
      if (error instanceof WorkflowNotFoundError && message.intent.operation === 'signal') return await remove(message.id);
      const away = isUnreachable(error);
      await postpone(db, message.id, error, away);
      if (away) return error;
      log.warn({ err: error, workflowId: message.intent.workflowId }, 'an intent could not be dispatched; it is tried again');
      return undefined;
    }
  }

  function setReachable(now: boolean, cause: unknown): void {
    if (now === reachable) return;
    reachable = now;
    if (now) log.info('Temporal answers again; the intents that waited go out');
    else log.warn({ err: cause }, 'Temporal cannot be reached; intents wait in the outbox');
  }

  function dispatch(messages: OutboxMessage[]): void {
    for (const message of messages) {
      if (inFlight.size >= mostInFlight || stopping.signal.aborted) return;
      const work = dispatchOne(message).finally(() => inFlight.delete(work));
      inFlight.add(work);
    }
  }

  return {
    start() {
      setDispatcher(db, dispatch);
      loop ??= relay();
    },
    async stop() {
      stopping.abort();
      setDispatcher(db, undefined);
      await Promise.race([Promise.allSettled([loop, ...inFlight]), delay(stopMs)]);
    },
  };
}

/**
 * Takes a lease on intents that nobody holds, the oldest of each workflow only, so that their order is kept. The lease
 * outlasts the dispatch: the row's lock ends before the call does.
 */
async function lease(db: Db, limit: number): Promise<OutboxMessage[]> {
  const { rows } = await sql<OutboxMessage>`
    update outbox set lease_until = now() + make_interval(secs => ${leaseSeconds})
    where id in (
      select id from outbox as candidate
      where (lease_until is null or lease_until < now())
        and not exists (select from outbox as earlier where earlier.workflow_id = candidate.workflow_id and earlier.id < candidate.id)
      order by id limit ${limit} for update skip locked
    )
    returning id, intent
  `.execute(db);
  return rows;
}

/** Puts an intent back: for a second where Temporal is away, else for longer each time. */
async function postpone(db: Db, id: number, error: unknown, away: boolean): Promise<void> {
  const message = error instanceof Error ? error.message : String(error);
  const seconds = away ? sql`1` : sql`least(30, power(2, least(attempts, 5)))::int`;
  await sql`
    update outbox set attempts = attempts + 1, last_error = ${message.slice(0, 500)}, lease_until = now() + make_interval(secs => ${seconds})
    where id = ${id}
  `.execute(db);
}

function isUnreachable(error: unknown): boolean {
  const grpc = error instanceof Error && error.cause !== undefined ? error.cause : error;
  return isGrpcServiceError(grpc) && unreachableCodes.has(grpc.code);
}
