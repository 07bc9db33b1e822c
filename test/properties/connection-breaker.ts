import type pg from 'pg';

/** Where a connection breaks: at the statement of this number (1 is the next one), before the server gets it, or after it was carried out. */
export interface Break {
  statement: number;
  when: 'before' | 'after';
}

/** What a break did. */
export interface Broken {
  /** The statement at which the connection broke. */
  text: string;
  /** Whether the statement was carried out and stays: a commit, or a write outside of a transaction. */
  lasting: boolean;
}

/** Breaks a connection of a pool at a statement of its choice, as a process that is killed or a network that fails does. */
export class ConnectionBreaker {
  #armed: Break | undefined;
  #seen = 0;
  #broken: Broken | undefined;

  watch(pool: pg.Pool): void {
    pool.on('connect', (client) => this.#watch(client));
  }

  /** Breaks once, at a statement from now on. */
  arm(at: Break): void {
    this.#armed = at;
    this.#seen = 0;
    this.#broken = undefined;
  }

  /** Returns what was broken since {@link arm}; undefined if there were not as many statements. */
  disarm(): Broken | undefined {
    this.#armed = undefined;
    const broken = this.#broken;
    this.#broken = undefined;
    return broken;
  }

  #watch(client: pg.PoolClient): void {
    const query = client.query.bind(client) as (...args: unknown[]) => Promise<unknown>;
    let inTransaction = false;
    client.query = ((...args: unknown[]) => {
      const text = textOf(args[0]);
      if (/^(begin|start transaction)/.test(text)) inTransaction = true;
      const isWrite = !inTransaction && !text.startsWith('select');
      if (text === 'commit' || text === 'rollback') inTransaction = false;
      if (!this.#armed || ++this.#seen !== this.#armed.statement) return query(...args);
      return this.#break(client, { text, lasting: text === 'commit' || isWrite }, this.#armed.when, () => query(...args));
    }) as typeof client.query;
  }

  async #break(client: pg.PoolClient, broken: Broken, when: Break['when'], carryOut: () => Promise<unknown>): Promise<never> {
    this.#armed = undefined;
    this.#broken = { ...broken, lasting: broken.lasting && when === 'after' };
    if (when === 'after') await carryOut();
    const ended = new Promise((resolve) => client.once('end', resolve));
    const { connection } = client as unknown as { connection: { stream: { destroy(): void } } };
    connection.stream.destroy();
    await ended;
    throw new Error(`the connection broke ${when} ${broken.text}`);
  }
}

function textOf(query: unknown): string {
  return typeof query === 'string' ? query : String((query as { text?: string }).text);
}
