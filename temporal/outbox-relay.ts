import { WorkflowNotFoundError } from '@temporalio/client';
import { sql } from 'kysely';
import type { Logger } from 'pino';
import { pause } from '../concurrency/pause.ts';
import type { Db } from '../db/connect.ts';
import type { OutboxMessage } from '../db/outbox.ts';
import type { IntentDelivery } from './intent-delivery.ts';
import { logFieldsOf } from './log-fields.ts';
import { grpcErrorOf, isUnreachable } from './unreachable.ts';

const deadlineMs = 5_000;
/** How many intents of a lane are on their way at once, at most. */
const mostInFlight = 100;
const pollMs = 1_000;
/** Longer than a delivery takes. */
const leaseSeconds = 15;
/** A new namespace, in which no worker has registered the search attributes yet. */
const isUnprepared = /no mapping defined for search attribute|search attribute \S+ is not defined/i;

/**
 * Delivers the intents that are still in the table (docs/rules.md, outbox), as fast as Temporal takes them. Those that it has not taken yet
 * have a lane of their own: while a part of Temporal is away, they fail again and again, and must not slow down or hold up the others.
 */
export class OutboxRelay {
  readonly #lanes: Lane[];

  constructor(db: Db, delivery: IntentDelivery, log: Logger) {
    const reachability = new Reachability(log);
    this.#lanes = [false, true].map((tried) => new Lane({ db, delivery, log, reachability, tried }));
  }

  /** Relays until the signal aborts, and waits for what is on its way. Never rejects. */
  async run(stopping: AbortSignal): Promise<void> {
    await Promise.all(this.#lanes.map((lane) => lane.run(stopping)));
  }
}

/** Whether Temporal can be reached, which is logged as it changes. */
class Reachability {
  readonly #log: Logger;
  #reachable = true;
  #takenAt = Number.NEGATIVE_INFINITY;

  constructor(log: Logger) {
    this.#log = log;
  }

  noteTaken(): void {
    this.#takenAt = performance.now();
    if (!this.#reachable) this.#log.info('Temporal is reachable again; the intents that waited are sent');
    this.#reachable = true;
  }

  noteFailure(cause: unknown): void {
    // One that is slow takes some and not others.
    if (!this.#reachable || performance.now() - this.#takenAt <= deadlineMs) return;
    this.#reachable = false;
    this.#log.warn({ err: cause }, 'Temporal cannot be reached; intents wait in the outbox');
  }
}

interface LaneOptions {
  db: Db;
  delivery: IntentDelivery;
  log: Logger;
  reachability: Reachability;
  /** It has the intents that were tried before, or else those that were not. */
  tried: boolean;
}

/**
 * While some intents are on their way, the next ones are leased. How many go at once grows while Temporal takes all, and shrinks to a single
 * one while it does not.
 */
class Lane {
  readonly #options: LaneOptions;
  readonly #inFlight = new Set<Promise<void>>();
  #allowed = mostInFlight;
  /** Temporal has not taken the last intent that came back. */
  #failing = false;
  /** The last intent that was leased: the next ones are after it, so that those that are gone are not read again. */
  #reached = 0;
  #beganAt = 0;

  constructor(options: LaneOptions) {
    this.#options = options;
  }

  async run(stopping: AbortSignal): Promise<void> {
    while (!stopping.aborted) {
      try {
        const more = await this.#relayMore();
        if (this.#failing) await pause(pollMs, stopping);
        else if (more) await this.#untilRoom();
        // One that is taken may let the next one of its workflow go.
        else await Promise.race([pause(pollMs, stopping), ...this.#inFlight]);
      } catch (error) {
        this.#options.log.warn({ err: error }, 'the outbox relay could not read its table');
        await pause(pollMs, stopping);
      }
    }
    await Promise.all(this.#inFlight);
  }

  /** Leases and sends what there is room for. False if nothing is left after the last intent that was leased. */
  async #relayMore(): Promise<boolean> {
    const { db, tried } = this.#options;
    const room = this.#allowed - this.#inFlight.size;
    if (room <= 0) return true;
    // One that waited for another of its workflow is older, and must not wait until all others are gone. Those that were tried stay in the
    // table: from the beginning again, the oldest would be tried for ever, and no other.
    if (!tried && performance.now() - this.#beganAt > pollMs) this.#begin();
    const messages = await lease(db, { tried, reached: this.#reached, limit: room });
    for (const message of messages) this.#send(message);
    if (messages.length < room) this.#begin();
    else this.#reached = Math.max(...messages.map(({ id }) => id));
    return messages.length === room;
  }

  #begin(): void {
    this.#reached = 0;
    this.#beganAt = performance.now();
  }

  #send(message: OutboxMessage): void {
    const sending = this.#relay(message)
      .then(
        (failure) => this.#adapt(failure),
        (error) => this.#options.log.warn({ err: error }, 'the outbox relay could not write its table'),
      )
      .finally(() => this.#inFlight.delete(sending));
    this.#inFlight.add(sending);
  }

  /** Waits until half of the places are free: a lease of a few at a time would cost more than their delivery. */
  async #untilRoom(): Promise<void> {
    while (this.#inFlight.size > 0 && this.#inFlight.size > this.#allowed / 2) await Promise.race(this.#inFlight);
  }

  #adapt(failure: unknown): void {
    this.#failing = failure !== undefined;
    if (this.#failing) {
      this.#allowed = Math.max(1, Math.floor(this.#allowed / 2));
      this.#options.reachability.noteFailure(failure);
    } else {
      this.#allowed = Math.min(mostInFlight, this.#allowed + 1);
      this.#options.reachability.noteTaken();
    }
  }

  /** Returns why Temporal could not be reached; undefined if it took or refused the intent. */
  async #relay(message: OutboxMessage): Promise<unknown> {
    const { db, delivery, log } = this.#options;
    const { id, intent } = message;
    try {
      await delivery.deliver(message, deadlineMs);
      return undefined;
    } catch (error) {
      // The workflow has ended, which is what the signal was for.
      if (error instanceof WorkflowNotFoundError && intent.operation === 'signal') return await delivery.remove(id);
      const unreachable = isUnreachable(error) || isUnprepared.test(grpcErrorOf(error)?.details ?? '');
      await postpone(db, id, error, unreachable);
      if (unreachable) return error;
      log.warn({ err: error, ...logFieldsOf(intent.workflowId) }, 'an intent could not be dispatched; it is tried again');
      return undefined;
    }
  }
}

/** Takes a lease on intents after `reached` that nobody holds: of each workflow only the oldest, so that their order is kept. */
async function lease(db: Db, { tried, reached, limit }: { tried: boolean; reached: number; limit: number }): Promise<OutboxMessage[]> {
  const { rows } = await sql<OutboxMessage>`
    update outbox set lease_until = now() + make_interval(secs => ${leaseSeconds})
    where id in (
      select id from outbox as candidate
      where id > ${reached} and ${tried ? sql`attempts > 0` : sql`attempts = 0`} and (lease_until is null or lease_until < now())
        and not exists (select from outbox as earlier where earlier.workflow_id = candidate.workflow_id and earlier.id < candidate.id)
      order by id limit ${limit} for update skip locked
    )
    returning id, intent, traceparent
  `.execute(db);
  return rows;
}

/** Puts an intent back: for a second if Temporal is unreachable, or else for longer each time. */
async function postpone(db: Db, id: number, error: unknown, unreachable: boolean): Promise<void> {
  const message = reasonOf(error);
  const seconds = unreachable ? sql`1` : sql`least(30, power(2, least(attempts, 5)))::int`;
  await sql`
    update outbox set attempts = attempts + 1, last_error = ${message.slice(0, 500)}, lease_until = now() + make_interval(secs => ${seconds})
    where id = ${id}
  `.execute(db);
}

/** The client's own error only says what it tried. */
function reasonOf(error: unknown): string {
  const grpc = grpcErrorOf(error);
  if (grpc) return grpc.details;
  return error instanceof Error ? error.message : String(error);
}
