import { isGrpcServiceError, WorkflowNotFoundError } from '@temporalio/client';
import { sql } from 'kysely';
import type { Logger } from 'pino';
import { pause } from '../concurrency/pause.ts';
import type { Db } from '../db/connect.ts';
import type { OutboxMessage } from '../db/outbox.ts';
import type { IntentDelivery } from './intent-delivery.ts';

const deadlineMs = 5_000;
const largestBatch = 100;
const pollMs = 1_000;
/** Longer than a delivery takes. */
const leaseSeconds = 15;
/** UNAVAILABLE, DEADLINE_EXCEEDED, RESOURCE_EXHAUSTED and CANCELLED of gRPC: the fault is not the intent's. */
const unreachableCodes = new Set([14, 4, 8, 1]);

/** Delivers the intents that are still in the table (docs/rules.md, outbox). */
export class OutboxRelay {
  readonly #db: Db;
  readonly #delivery: IntentDelivery;
  readonly #log: Logger;
  #reachable = true;
  #batchSize = largestBatch;

  constructor(db: Db, delivery: IntentDelivery, log: Logger) {
    this.#db = db;
    this.#delivery = delivery;
    this.#log = log;
  }

  /** Relays until the signal aborts. Never rejects. */
  async run(stopping: AbortSignal): Promise<void> {
    while (!stopping.aborted) {
      let more = false;
      try {
        more = await this.#relayBatch();
      } catch (error) {
        this.#log.warn({ err: error }, 'the outbox relay could not read its table');
      }
      if (!more) await pause(pollMs, stopping);
    }
  }

  /**
   * Relays a batch, and returns whether another one should follow at once. Batches shrink while Temporal does not take them, down to a single
   * intent, and grow again afterwards: a Temporal that has just come back is not overloaded.
   */
  async #relayBatch(): Promise<boolean> {
    const messages = await lease(this.#db, this.#batchSize);
    const failures = (await Promise.all(messages.map((message) => this.#relay(message)))).filter((failure) => failure !== undefined);
    if (messages.length === 0) return false;
    const allTaken = failures.length === 0;
    this.#setReachable(failures.length < messages.length, failures[0]);
    const full = messages.length === this.#batchSize;
    this.#batchSize = allTaken ? Math.min(largestBatch, this.#batchSize * 2) : Math.max(1, Math.floor(this.#batchSize / 4));
    return allTaken && full;
  }

  /** Returns why Temporal could not be reached; undefined if it took or refused the intent. */
  async #relay(message: OutboxMessage): Promise<unknown> {
    const { id, intent } = message;
    try {
      await this.#delivery.deliver(message, deadlineMs);
      return undefined;
    } catch (error) {
      // The workflow has ended, which is what the signal was for.
      if (error instanceof WorkflowNotFoundError && intent.operation === 'signal') return await this.#delivery.remove(id);
      const unreachable = isUnreachable(error);
      await postpone(this.#db, id, error, unreachable);
      if (unreachable) return error;
      this.#log.warn({ err: error, workflowId: intent.workflowId }, 'an intent could not be dispatched; it is tried again');
      return undefined;
    }
  }

  #setReachable(now: boolean, cause: unknown): void {
    if (now === this.#reachable) return;
    this.#reachable = now;
    if (now) this.#log.info('Temporal is reachable again; the intents that waited are sent');
    else this.#log.warn({ err: cause }, 'Temporal cannot be reached; intents wait in the outbox');
  }
}

/** Takes a lease on intents that nobody holds: of each workflow only the oldest, so that their order is kept. */
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

/** Puts an intent back: for a second if Temporal is unreachable, or else for longer each time. */
async function postpone(db: Db, id: number, error: unknown, unreachable: boolean): Promise<void> {
  const message = error instanceof Error ? error.message : String(error);
  const seconds = unreachable ? sql`1` : sql`least(30, power(2, least(attempts, 5)))::int`;
  await sql`
    update outbox set attempts = attempts + 1, last_error = ${message.slice(0, 500)}, lease_until = now() + make_interval(secs => ${seconds})
    where id = ${id}
  `.execute(db);
}

function isUnreachable(error: unknown): boolean {
  const grpc = error instanceof Error && error.cause !== undefined ? error.cause : error;
  return isGrpcServiceError(grpc) && unreachableCodes.has(grpc.code);
}
