import { sql } from 'kysely';
import { webhookTest } from '../../contract/webhook-events.ts';
import type { Db, Transaction } from '../../db/connect.ts';
import type { WebhookAttempt } from '../../db/schema.ts';
import { inTransaction } from '../../db/transaction.ts';
import type { DeliveryRow } from './delivery.ts';
import { disableIfFailing } from './disable-endpoint.ts';
import type { EndpointRow } from './endpoint.ts';
import { startHeld } from './held-deliveries.ts';

/** A pending delivery, and its endpoint as it is now; null if it is gone. */
export interface PendingDelivery {
  delivery: DeliveryRow;
  endpoint: (Pick<EndpointRow, 'url' | 'enabled' | 'signature'> & { secrets: string[] }) | null;
  /** How long its next attempt still waits; 0 or less if it is due. */
  waitMs: number;
}

/** The delivery, if it is still pending, due or not. */
export async function findPendingDelivery(db: Db, deliveryId: string): Promise<PendingDelivery | undefined> {
  const pending = await db
    .selectFrom('webhook_delivery')
    .selectAll()
    .select(sql<number>`coalesce(extract(epoch from next_attempt_at - clock_timestamp()) * 1000, 0)::float8`.as('wait_ms'))
    .where('id', '=', deliveryId)
    .where('status', '=', 'pending')
    .executeTakeFirst();
  if (!pending) return undefined;
  const { wait_ms: waitMs, ...delivery } = pending;
  const found = await db
    .selectFrom('webhook_endpoint')
    .select(['url', 'enabled', 'signature', 'secret'])
    .select(sql<string | null>`case when previous_secret_until > now() then previous_secret end`.as('previous'))
    .where('id', '=', delivery.endpoint_id)
    .executeTakeFirst();
  if (!found) return { delivery, endpoint: null, waitMs };
  const { secret, previous, ...endpoint } = found;
  return { delivery, endpoint: { ...endpoint, secrets: previous === null ? [secret] : [secret, previous] }, waitMs };
}

/** Whether somebody asked for it to see that the endpoint works. */
export function isTest({ event }: Pick<DeliveryRow, 'event'>): boolean {
  return event === webhookTest;
}

/** Why a delivery cannot be sent at all; undefined if it can. A disabled endpoint takes only tests. */
export function unsendableReason({ delivery, endpoint }: PendingDelivery): string | undefined {
  if (!endpoint) return 'The endpoint was deleted.';
  return endpoint.enabled || isTest(delivery) ? undefined : 'The endpoint is disabled.';
}

/** The outcome of one request. */
interface AttemptResult extends WebhookAttempt {
  url: string;
  /** The beginning of the response; null if there was none. */
  body: string | null;
  /** Whether another attempt would be refused, too. */
  final: boolean;
  /** Whether the receiver wants no more events (410). */
  gone: boolean;
  /** How long the receiver asked to wait. */
  retryAfterMs?: number | undefined;
}

/** The next step after an attempt: none, or the next attempt after `delayMs`. */
export type AfterAttempt =
  | { status: 'delivered' | 'failed' }
  | { status: 'superseded' }
  | { status: 'pending'; delayMs: number; error: string };

const longestDelayMs = 24 * 3_600_000;
/** How much longer a wait may become, so that deliveries that failed together are not sent again together. */
const jitter = 0.1;

/**
 * The wait after the n-th attempt, in milliseconds, with jitter; undefined if it was the last. A receiver that asks for longer gets up to a
 * day.
 */
export function delayAfter(tries: number, delaysMs: readonly number[], retryAfterMs = 0): number | undefined {
  const delayMs = delaysMs[tries - 1];
  if (delayMs === undefined) return undefined;
  return Math.round(Math.max(delayMs, Math.min(longestDelayMs, retryAfterMs)) * (1 + Math.random() * jitter));
}

/**
 * Records an attempt, the next step, and the state of the endpoint, in one transaction. A test is not tried again, and does not change the
 * state. Records nothing if another attempt was recorded meanwhile.
 */
export async function recordAttempt(
  db: Db,
  delivery: DeliveryRow,
  result: AttemptResult,
  delaysMs: readonly number[],
): Promise<AfterAttempt> {
  const after = whatFollows(delivery, result, delaysMs);
  return await inTransaction(db, async (trx) => {
    if (!(await store(trx, delivery, result, after))) return { status: 'superseded' };
    if (!isTest(delivery)) await noteOutcome(trx, delivery.endpoint_id, result, after);
    return after;
  });
}

type Following = Exclude<AfterAttempt, { status: 'superseded' }>;

function whatFollows({ event, tries }: DeliveryRow, { error, final, retryAfterMs }: AttemptResult, delaysMs: readonly number[]): Following {
  if (error === null) return { status: 'delivered' };
  const delayMs = final || event === webhookTest ? undefined : delayAfter(tries + 1, delaysMs, retryAfterMs);
  return delayMs === undefined ? { status: 'failed' } : { status: 'pending', delayMs, error };
}

const keptAttempts = 20;

async function store(trx: Transaction, { id, tries, held }: DeliveryRow, result: AttemptResult, after: Following): Promise<boolean> {
  const { url, body, at, durationMs, status, error } = result;
  const attempt = JSON.stringify([{ at, durationMs, status, error } satisfies WebhookAttempt]);
  const isOver = after.status !== 'pending';
  const stored = await trx
    .updateTable('webhook_delivery')
    .set({
      status: after.status,
      tries: tries + 1,
      held: false,
      attempts: sql<string>`(
        select jsonb_agg(each order by number) from (
          select each, number from jsonb_array_elements(attempts || ${attempt}::jsonb) with ordinality as kept (each, number)
          order by number desc limit ${sql.lit(keptAttempts)}
        ) as last
      )`,
      ...{ url, error },
      ...(status === null ? {} : { response_status: status, response_body: body ?? '' }),
      next_attempt_at: isOver ? null : sql<Date>`clock_timestamp() + make_interval(secs => ${after.delayMs / 1_000})`,
      finished_at: isOver ? sql<Date>`clock_timestamp()` : null,
    })
    .where('id', '=', id)
    .where('status', '=', 'pending')
    .where('tries', '=', tries)
    // A later attempt of the run may have held it, and ended the run: then nobody makes another attempt. What is over is over all the same.
    .$if(!isOver, (query) => query.where('held', '=', held))
    .returning('id')
    .executeTakeFirst();
  return stored !== undefined;
}

/**
 * Records since when an endpoint fails at its present address. One that accepts gets what is held for it. One that is gone is disabled, and
 * one that fails for too long, with the last attempt of a delivery: a single failure after a quiet month says little.
 */
async function noteOutcome(
  trx: Transaction,
  endpointId: string,
  { error, gone, url }: AttemptResult,
  { status }: Following,
): Promise<void> {
  const fails = error !== null;
  await trx
    .updateTable('webhook_endpoint')
    .set({ failing_since: fails ? sql<Date>`now()` : null })
    .where('id', '=', endpointId)
    .where('url', '=', url)
    .where('failing_since', fails ? 'is' : 'is not', null)
    .execute();
  if (!fails) await startHeld(trx, endpointId);
  else if (gone || status === 'failed') await disableIfFailing(trx, { endpointId, url, gone });
}

/** Ends a pending delivery without an attempt. */
export async function giveUpDelivery(db: Db, deliveryId: string, error: string): Promise<void> {
  await db
    .updateTable('webhook_delivery')
    .set({ status: 'failed', error, held: false, next_attempt_at: null, finished_at: sql<Date>`clock_timestamp()` })
    .where('id', '=', deliveryId)
    .where('status', '=', 'pending')
    .execute();
}
