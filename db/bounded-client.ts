import type pg from 'pg';
import { CancelableClient } from './cancelable-client.ts';

/** How long a transaction may take, unless it does bulk work (docs/rules.md, notifications may be lost). */
export const longestTransactionMs = 30_000;
/** How long a transaction may take that does bulk work. */
const longestBulkMs = 15 * 60_000;

/** The statement that declares a transaction to be bulk work. */
export const doBulkWork = `set local statement_timeout = ${longestBulkMs}`;

export interface BoundedClientConfig extends pg.ClientConfig {
  /** How long a transaction may take, in milliseconds; 0 is no limit. */
  transactionMs: number;
}

/**
 * A connection that is destroyed if a transaction on it takes too long, so that the transaction is never committed. Postgres can limit
 * transactions itself only from version 17 on. A statement that the server still runs ends with its `statement_timeout`.
 */
export class BoundedClient extends CancelableClient {
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
    // The server rolls back when the connection ends. An error here would hide why the transaction ended.
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
    // The timer may be late in a busy process.
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
