import { setTimeout as delay } from 'node:timers/promises';
import type { Client } from '@temporalio/client';
import type { NativeConnection } from '@temporalio/worker';
import type { Logger } from 'pino';
import type { Db } from '../../db/connect.ts';
import type { OutboxMessage } from '../../db/outbox-message.ts';
import { overConnection } from './connect.ts';
import { IntentDelivery } from './intent-delivery.ts';
import { logFieldsOf } from './log-fields.ts';
import { OutboxRelay } from './outbox-relay.ts';
import type { StartSettings } from './start-options.ts';

/** Delivers committed intents to Temporal: at once in the background, and later from the table (docs/rules.md, outbox). */
export interface Outbox {
  /** Starts delivering this process's commits and relaying the table, until {@link stop}. */
  start(): void;
  /**
   * Shares the connection of workers in this process, so that they get the first task of a new workflow at once; undefined before it
   * closes.
   */
  shareConnection(connection: NativeConnection | undefined): void;
  /** Stops both, and waits briefly for deliveries in flight: the others stay in the table. */
  stop(): Promise<void>;
}

interface OutboxOptions {
  db: Db;
  /** The workers' own pool, whose intents are also delivered at once. */
  workerDb?: Db | undefined;
  client: Client;
  log: Logger;
  settings: StartSettings;
  /** Called about once a second while the table is relayed. Must not reject. */
  onPoll?: () => Promise<void>;
}

/**
 * The call must end before the lease of the writer, which begins before the commit. It should not end much earlier: the response to a
 * start brings the workflow's first task, and Temporal notices only after ten seconds that the caller of a start is gone.
 */
const deadlineMs = 3_000;
const maxInFlight = 256;
const stopMs = 1_500;

export function createOutbox({ db, workerDb, client, log, settings, onPoll }: OutboxOptions): Outbox {
  const delivery = new IntentDelivery(db, client, settings);
  const relay = new OutboxRelay(db, delivery, log, onPoll);
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
      if (inFlight.size >= maxInFlight || stopping.signal.aborted) return;
      const work = deliver(message).finally(() => inFlight.delete(work));
      inFlight.add(work);
    }
  }

  return {
    start() {
      for (const each of [db, ...(workerDb ? [workerDb] : [])]) each.dispatch = dispatch;
      relaying ??= relay.run(stopping.signal);
    },
    shareConnection(connection) {
      near = connection && overConnection(client, connection);
    },
    async stop() {
      stopping.abort();
      for (const each of [db, ...(workerDb ? [workerDb] : [])]) each.dispatch = undefined;
      await Promise.race([Promise.allSettled([relaying, ...inFlight]), delay(stopMs)]);
    },
  };
}
