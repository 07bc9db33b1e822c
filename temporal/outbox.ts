import { setTimeout as delay } from 'node:timers/promises';
import type { Client } from '@temporalio/client';
import type { NativeConnection } from '@temporalio/worker';
import type { Logger } from 'pino';
import type { Db } from '../db/connect.ts';
import { type OutboxMessage, setDispatcher } from '../db/outbox.ts';
import { overConnection } from './connect.ts';
import { IntentDelivery } from './intent-delivery.ts';
import { logFieldsOf } from './log-fields.ts';
import { OutboxRelay } from './outbox-relay.ts';
import type { StartSettings } from './start-options.ts';

/** Delivers committed intents to Temporal: at once in the background, and later from the table (docs/rules.md, outbox). */
export interface Outbox {
  /** Delivers what this process commits from now on, and relays what is in the table, until {@link stop}. */
  start(): void;
  /** Shares the connection of workers in this process, which get the first task of a new workflow at once; undefined before it closes. */
  shareConnection(connection: NativeConnection | undefined): void;
  /** Stops both, and waits for deliveries under way, but not for long: the table keeps what is left. */
  stop(): Promise<void>;
}

export interface OutboxOptions {
  db: Db;
  /** Connections of their own of the workers in this process, whose intents are delivered at once too. */
  workerDb?: Db | undefined;
  client: Client;
  log: Logger;
  settings: StartSettings;
}

/**
 * Shorter than the lease of the writer, which begins before the commit. Not much shorter: the response to a start brings the workflow's first
 * task, and whoever gives up on it leaves that lost for ten seconds, until Temporal notices.
 */
const deadlineMs = 3_000;
const mostInFlight = 256;
const stopMs = 1_500;

export function createOutbox({ db, workerDb, client, log, settings }: OutboxOptions): Outbox {
  const delivery = new IntentDelivery(db, client, settings);
  const relay = new OutboxRelay(db, delivery, log);
  const inFlight = new Set<Promise<void>>();
  const stopping = new AbortController();
  let near: Client | undefined;
  let relaying: Promise<void> | undefined;

  async function deliver(message: OutboxMessage): Promise<void> {
    try {
      await delivery.deliver(message, deadlineMs, near);
    } catch (error) {
      log.debug({ err: error, ...logFieldsOf(message.intent.workflowId) }, 'an intent was not dispatched at once; the relay has it');
    }
  }

  function dispatch(messages: OutboxMessage[]): void {
    for (const message of messages) {
      if (inFlight.size >= mostInFlight || stopping.signal.aborted) return;
      const work = deliver(message).finally(() => inFlight.delete(work));
      inFlight.add(work);
    }
  }

  return {
    start() {
      for (const each of [db, ...(workerDb ? [workerDb] : [])]) setDispatcher(each, dispatch);
      relaying ??= relay.run(stopping.signal);
    },
    shareConnection(connection) {
      near = connection && overConnection(client, connection);
    },
    async stop() {
      stopping.abort();
      for (const each of [db, ...(workerDb ? [workerDb] : [])]) setDispatcher(each, undefined);
      await Promise.race([Promise.allSettled([relaying, ...inFlight]), delay(stopMs)]);
    },
  };
}
