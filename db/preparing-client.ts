import { createHash } from 'node:crypto';
import pg from 'pg';
import { TrackedClient } from './tracked-client.ts';

/** How many prepared statements one connection may have. Further ones are sent unprepared. */
const mostStatements = 300;
const featureNotSupported = '0A000';

/**
 * A connection on which Postgres plans each read once: outside of transactions a `select` is sent as a prepared statement, named after
 * its text. If a migration has changed the columns of its result since, it is sent again unprepared.
 *
 * Behind a pooler nothing is prepared: the next statement may be sent over another connection of the pooler. Its place among our clients:
 * docs/decisions/database-client.md.
 */
export class PreparingClient extends TrackedClient {
  readonly #names = new Map<string, string>();
  readonly #prepares: boolean;
  #inTransaction = false;

  constructor({ prepares, ...config }: pg.ClientConfig & { prepares: boolean }) {
    super(config);
    this.#prepares = prepares;
  }

  // biome-ignore lint/suspicious/noExplicitAny: pg's own signature has a dozen overloads, which this passes through.
  override query(...args: any[]): any {
    const [text, values] = args;
    if (typeof text !== 'string') return super.query(this.#prepares ? text : withoutName(text), ...args.slice(1));
    this.#follow(text);
    const name = args.length === 2 && Array.isArray(values) ? this.#nameOf(text) : undefined;
    if (name === undefined) return super.query(...args);
    return super.query({ name, text, values }).catch((error: unknown) => {
      if (!(error instanceof pg.DatabaseError) || error.code !== featureNotSupported) throw error;
      this.#names.set(text, `${name}+`);
      return super.query(text, values);
    });
  }

  #follow(text: string): void {
    if (beginsTransaction(text)) this.#inTransaction = true;
    else if (text === 'commit' || text === 'rollback') this.#inTransaction = false;
  }

  #nameOf(text: string): string | undefined {
    if (!this.#prepares || this.#inTransaction || !text.startsWith('select')) return undefined;
    const known = this.#names.get(text);
    if (known !== undefined) return known;
    if (this.#names.size >= mostStatements) return undefined;
    const name = createHash('sha1').update(text).digest('base64url');
    this.#names.set(text, name);
    return name;
  }
}

/** Whether a statement begins a transaction, in the words of Kysely and of this project. */
export function beginsTransaction(text: string): boolean {
  return text === 'begin' || text.startsWith('start transaction');
}

function withoutName(query: unknown): unknown {
  return typeof query === 'object' && query !== null && 'name' in query ? { ...query, name: undefined } : query;
}
