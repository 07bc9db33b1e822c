import type pg from 'pg';
import { answerMarginMs, bulkBounds, doBulkWork, longestIdleMs, setLocal, type WorkBounds } from './bounds.ts';
import { CancelableClient } from './cancelable-client.ts';
import { beginsTransaction } from './preparing-client.ts';
import type { Watch } from './watch.ts';

export interface BoundedClientConfig extends pg.ClientConfig {
  bounds: WorkBounds;
  /** Whether a pooler in transaction mode is between this process and Postgres: then nothing may outlive a transaction. */
  pooled: boolean;
  watch: Watch;
}

/**
 * A connection that is destroyed if a transaction on it takes too long, so that the transaction is never committed. Postgres can limit
 * transactions itself only from version 17 on. A statement that the server still runs ends with its `statement_timeout`. The outermost of
 * our clients, of which the pools are made: docs/decisions/database-client.md.
 */
export class BoundedClient extends CancelableClient {
  readonly #bounds: WorkBounds;
  readonly #pooled: boolean;
  readonly #watch: Watch;
  #endsAt = Number.POSITIVE_INFINITY;
  #timer: NodeJS.Timeout | undefined;
  #answerMs: number;

  constructor({ bounds, pooled, watch, ...config }: BoundedClientConfig) {
    super({ ...config, ...(pooled ? {} : sessionBounds(bounds)), prepares: !pooled });
    this.#bounds = bounds;
    this.#pooled = pooled;
    this.#watch = watch;
    this.once('end', () => watch.remove(this));
    this.#answerMs = answerWithin(bounds.transactionMs);
  }

  /** How long the server may say nothing to a query, in milliseconds. */
  get answerMs(): number {
    return this.#answerMs;
  }

  // biome-ignore lint/suspicious/noExplicitAny: pg's own signature has two overloads, which this passes through.
  override connect(...callback: any[]): any {
    this.#watch.add(this);
    const connected = super.connect(...callback);
    if (this.#watch.lost) this.breakOff('the database does not respond');
    return connected;
  }

  // biome-ignore lint/suspicious/noExplicitAny: pg's own signature has a dozen overloads, which this passes through.
  override query(...args: any[]): any {
    const [text] = args;
    const begins = typeof text === 'string' && beginsTransaction(text);
    if (begins) this.#boundTransaction(this.#bounds.transactionMs);
    else if (text === doBulkWork) this.#boundTransaction(bulkBounds.transactionMs);
    else if (text === 'commit') this.#commitInTime();
    else if (text === 'rollback') this.#unbound();
    // The server rolls back when the connection ends. An error here would hide why the transaction ended.
    if (this.brokenOff && text === 'rollback') return Promise.resolve({ command: 'ROLLBACK', rowCount: null, rows: [] });
    if (begins && this.#pooled) return this.#beginBounded(args);
    return super.query(...args);
  }

  /** In one message, so that it costs no round trip. */
  async #beginBounded([text]: unknown[]): Promise<pg.QueryResult> {
    const idle = `set local idle_in_transaction_session_timeout = ${idleMs(this.#bounds)}`;
    const results: pg.QueryResult[] = await super.query(`${text}; ${setLocal(this.#bounds)}; ${idle}`);
    return results[0] as pg.QueryResult;
  }

  /** From now on the transaction may take so long; 0 is no bound. */
  #boundTransaction(ms: number): void {
    this.#unbound();
    if (ms === 0) return;
    this.#answerMs = answerWithin(ms);
    this.#endsAt = performance.now() + ms;
    this.#timer = setTimeout(() => this.#tooLong(), ms).unref();
  }

  #commitInTime(): void {
    // The timer may be late in a busy process.
    if (performance.now() >= this.#endsAt) this.#tooLong();
    else this.#unbound();
  }

  /** No transaction is under way any more. */
  #unbound(): void {
    clearTimeout(this.#timer);
    this.#endsAt = Number.POSITIVE_INFINITY;
    this.#answerMs = answerWithin(this.#bounds.transactionMs);
  }

  #tooLong(): void {
    this.#unbound();
    this.breakOff('the transaction took too long and was broken off');
  }
}

/** Strings: pg leaves out a 0, so that the role's own setting would count instead of no bound. */
function sessionBounds(bounds: WorkBounds): pg.ClientConfig {
  const [statement_timeout, lock_timeout] = [`${bounds.transactionMs}` as never, `${bounds.lockMs}` as never];
  return { statement_timeout, lock_timeout, idle_in_transaction_session_timeout: idleMs(bounds) };
}

/** A transaction waits for nothing outside of the database: one that is idle for long has lost its client, and still holds its locks. */
function idleMs({ transactionMs }: WorkBounds): number {
  return Math.min(transactionMs || longestIdleMs, longestIdleMs);
}

function answerWithin(transactionMs: number): number {
  return transactionMs === 0 ? Number.POSITIVE_INFINITY : transactionMs + answerMarginMs;
}
