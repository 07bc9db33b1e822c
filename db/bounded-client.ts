import type pg from 'pg';
import { PreparingClient } from './preparing-client.ts';

/** No transaction outlives this, save bulk work that says so; replays of a stream overlap by it. */
export const longestTransactionMs = 30_000;
/** How long a transaction may take that does bulk work. */
const longestBulkMs = 15 * 60_000;

/** The statement by which a transaction says that it does bulk work. */
export const doBulkWork = `set local statement_timeout = ${longestBulkMs}`;

export interface BoundedClientConfig extends pg.ClientConfig {
  /** How long a transaction may live; 0 does not bound it. Milliseconds. */
  transactionMs: number;
}

/**
 * A connection on which no transaction is committed that lived too long: past its time, the connection is broken off. Postgres bounds
 * transactions by itself only from version 17 on. What the server still runs then ends with its `statement_timeout`.
 */
export class BoundedClient extends PreparingClient {
  readonly #transactionMs: number;
  #endsAt = Number.POSITIVE_INFINITY;
  #timer: NodeJS.Timeout | undefined;
  #brokenOff = false;

  constructor(config: BoundedClientConfig) {
    super({ ...config, statement_timeout: config.transactionMs });
    this.#transactionMs = config.transactionMs;
  }

  // biome-ignore lint/suspicious/noExplicitAny: pg's own signature has a dozen overloads, which this passes through.
  override query(...args: any[]): any {
    if (this.#transactionMs > 0) this.#follow(args[0]);
    // The server does it by itself; failing here would hide why the transaction ended.
    if (this.#brokenOff && args[0] === 'rollback') return Promise.resolve({ command: 'ROLLBACK', rowCount: null, rows: [] });
    return super.query(...args);
  }

  #follow(text: unknown): void {
    if (text === 'begin' || (typeof text === 'string' && text.startsWith('start transaction'))) this.#allow(this.#transactionMs);
    else if (text === doBulkWork) this.#allow(longestBulkMs);
    else if (text === 'commit') this.#commit();
    else if (text === 'rollback') this.#end();
  }

  #allow(ms: number): void {
    this.#end();
    this.#endsAt = performance.now() + ms;
    this.#timer = setTimeout(() => this.#breakOff(), ms).unref();
  }

  #commit(): void {
    // A process that was busy with something else may come here before its timer fires.
    if (performance.now() >= this.#endsAt) this.#breakOff();
    else this.#end();
  }

  #end(): void {
    clearTimeout(this.#timer);
    this.#endsAt = Number.POSITIVE_INFINITY;
  }

  #breakOff(): void {
    this.#end();
    this.#brokenOff = true;
    const { connection } = this as unknown as { connection: { stream: { destroy(error: Error): void } } };
    connection.stream.destroy(new Error('the transaction took too long and was broken off'));
  }
}
