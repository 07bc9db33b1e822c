import { WorkflowNotFoundError } from '@temporalio/client';
import { sql } from 'kysely';
import type { Logger } from 'pino';
import { pause } from '../../base/concurrency/pause.ts';
import type { Db } from '../../db/connect.ts';
import type { OutboxMessage } from '../../db/outbox-message.ts';
import type { IntentDelivery } from './intent-delivery.ts';
import { logFieldsOf } from './log-fields.ts';
import { grpcErrorOf, isUnreachable } from './unreachable.ts';

const deadlineMs = 5_000;
/** The maximum number of intents in flight: a busy Temporal would not take more any faster. */
const maxInFlight = 10;
const pollMs = 1_000;
/** Longer than a delivery takes. */
const leaseSeconds = 15;
/** The number of oldest intents that are ranked fairly by organization: ranking all of a large backlog takes seconds. */
const maxRanked = 5_000;
/** The error of a new namespace in which no worker has registered the search attributes yet. */
const isUnprepared = /no mapping defined for search attribute|search attribute \S+ is not defined/i;

/** Delivers the intents that are still in the table (docs/rules.md, outbox), fairly by organization, as fast as Temporal takes them. */
export class OutboxRelay {
  readonly #db: Db;
  readonly #delivery: IntentDelivery;
  readonly #log: Logger;
  readonly #onPoll: (() => Promise<void>) | undefined;
  readonly #inFlight = new Set<Promise<void>>();
  /** False while Temporal takes nothing. */
  #reached = true;
  #lastReachedAt = Number.NEGATIVE_INFINITY;
  #outageLogged = false;

  constructor(db: Db, delivery: IntentDelivery, log: Logger, onPoll?: () => Promise<void>) {
    this.#db = db;
    this.#delivery = delivery;
    this.#log = log;
    this.#onPoll = onPoll;
  }

  /** Relays until the signal aborts, and waits for intents in flight. Never rejects. */
  async run(stopping: AbortSignal): Promise<void> {
    while (!stopping.aborted) {
      try {
        await this.#onPoll?.();
        const limit = maxInFlight - this.#inFlight.size;
        const messages = await lease(this.#db, limit);
        for (const message of messages) this.#send(message);
        if (messages.length === limit) await this.#untilHalfFree();
        // A delivered intent may unblock the next one of its workflow.
        else await Promise.race([pause(pollMs, stopping), ...this.#inFlight]);
        if (!this.#reached) await pause(pollMs, stopping);
      } catch (error) {
        this.#log.warn({ err: error }, 'the outbox relay could not read its table');
        await pause(pollMs, stopping);
      }
    }
    await Promise.all(this.#inFlight);
  }

  #send(message: OutboxMessage): void {
    const sending = this.#relay(message)
      .catch((error) => this.#log.warn({ err: error }, 'the outbox relay could not write its table'))
      .finally(() => this.#inFlight.delete(sending));
    this.#inFlight.add(sending);
  }

  /** Waits until half of the capacity is free, since leasing a few intents at a time would cost more than their delivery. */
  async #untilHalfFree(): Promise<void> {
    while (this.#inFlight.size > maxInFlight / 2) await Promise.race(this.#inFlight);
  }

  async #relay(message: OutboxMessage): Promise<void> {
    const { id, intent } = message;
    try {
      await this.#delivery.deliver(message, deadlineMs);
      this.#noteReached();
    } catch (error) {
      // The workflow has ended already, so it needs no signal.
      if (error instanceof WorkflowNotFoundError && intent.operation === 'signal') {
        this.#noteReached();
        return await this.#delivery.remove(id);
      }
      const unreachable = isUnreachable(error) || isUnprepared.test(grpcErrorOf(error)?.details ?? '');
      await postpone(this.#db, id, error, unreachable);
      if (unreachable) return this.#noteOutage(error);
      this.#noteReached();
      this.#log.warn({ err: error, ...logFieldsOf(intent.workflowId) }, 'an intent could not be dispatched; it is tried again');
    }
  }

  #noteReached(): void {
    this.#reached = true;
    this.#lastReachedAt = performance.now();
    if (this.#outageLogged) this.#log.info('Temporal is reachable again; the intents that waited are sent');
    this.#outageLogged = false;
  }

  #noteOutage(cause: unknown): void {
    // A slow Temporal takes some intents and not others.
    const silentMs = performance.now() - this.#lastReachedAt;
    this.#reached = silentMs <= pollMs;
    if (this.#outageLogged || silentMs <= deadlineMs) return;
    this.#outageLogged = true;
    this.#log.warn({ err: cause }, 'Temporal cannot be reached; intents wait in the outbox');
  }
}

/**
 * Leases free intents: of each workflow only the oldest, which keeps their order; round robin by organization, so that a backlog delays no
 * other organization. Those that Temporal did not take before have turns of their own, the longest untried first: they neither wait for all
 * others nor keep them waiting.
 */
async function lease(db: Db, limit: number): Promise<OutboxMessage[]> {
  const isFree = sql`(lease_until is null or lease_until < now())`;
  const { rows } = await sql<OutboxMessage>`
    update outbox set lease_until = now() + make_interval(secs => ${leaseSeconds})
    where id in (
      select id from outbox where ${isFree} and id in (
        select id from (
          select id, case when attempts > 0 then lease_until end as tried,
            row_number() over (
              partition by coalesce(intent->>'organizationId', intent->'input'->>'organizationId', workflow_id), attempts > 0
              order by case when attempts > 0 then lease_until end, id
            ) as rank
          from (select * from outbox where ${isFree} order by id limit ${maxRanked}) as candidate
          where not exists (select from outbox as earlier where earlier.workflow_id = candidate.workflow_id and earlier.id < candidate.id)
        ) as ranked
        order by rank, tried nulls first, id limit ${limit}
      )
      for update skip locked
    )
    returning id, intent, traceparent
  `.execute(db);
  return rows;
}

/** Postpones an intent: by a second if Temporal is unreachable, otherwise by longer each time. */
async function postpone(db: Db, id: number, error: unknown, unreachable: boolean): Promise<void> {
  const message = reasonOf(error);
  const seconds = unreachable ? sql`1` : sql`least(30, power(2, least(attempts, 5)))::int`;
  await sql`
    update outbox set attempts = attempts + 1, last_error = ${message.slice(0, 500)}, lease_until = now() + make_interval(secs => ${seconds})
    where id = ${id}
  `.execute(db);
}

/** The reason of an error: the client's own error says only what it tried. */
function reasonOf(error: unknown): string {
  const grpc = grpcErrorOf(error);
  if (grpc) return grpc.details;
  return error instanceof Error ? error.message : String(error);
}
