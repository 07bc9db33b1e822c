import pg from 'pg';
import { traceStatement } from './trace-statement.ts';
import { toUnavailable } from './unavailable.ts';

/**
 * A connection that knows how long its server has said nothing, and can be broken off. Its own errors are DatabaseUnavailable. The innermost
 * of our clients: docs/decisions/database-client.md.
 */
export class TrackedClient extends pg.Client {
  /** How many queries wait for the server, and the connection itself while it is opened. */
  #waiting = 0;
  /** When the server was last seen to have sent something, and how much it had sent in all. */
  #heardAt = 0;
  #bytesRead = 0;
  #brokenOff = false;

  // biome-ignore lint/suspicious/noExplicitAny: pg's own signature has a dozen overloads, which this passes through.
  override query(...args: any[]): any {
    const settle = this.#beginQuery(args[0]);
    const callback = args.at(-1);
    if (typeof callback === 'function') {
      args[args.length - 1] = (error: unknown, result: unknown) => {
        settle(error);
        callback(error && toUnavailable(error), result);
      };
    }
    const result = this.#send(args, settle);
    if (typeof callback === 'function') return result;
    if (result instanceof Promise) return settled(result, settle);
    // A query object of pg, which tells its own listeners how it goes.
    settle();
    return result;
  }

  // biome-ignore lint/suspicious/noExplicitAny: as above.
  override connect(...callback: any[]): any {
    this.#startWaiting();
    const [done] = callback;
    if (typeof done !== 'function') return super.connect().finally(() => this.#stopWaiting());
    return super.connect((error: Error) => {
      this.#stopWaiting();
      done(error);
    });
  }

  /** The process of the server, as it names itself; 0 until it is known. */
  get backendPid(): number {
    return (this as unknown as { processID: number | null }).processID ?? 0;
  }

  get brokenOff(): boolean {
    return this.#brokenOff;
  }

  get bytesRead(): number {
    return this.#stream.bytesRead;
  }

  /** For how long a query, or the connection itself, has waited without a byte from the server, in milliseconds; 0 if nothing waits. */
  silentMs(): number {
    if (this.#waiting === 0) return 0;
    const { bytesRead } = this.#stream;
    if (bytesRead !== this.#bytesRead) {
      this.#bytesRead = bytesRead;
      this.#heardAt = performance.now();
    }
    return performance.now() - this.#heardAt;
  }

  /** Destroys the connection: its query fails, and its transaction is never committed by this process. */
  breakOff(reason: string): void {
    this.#brokenOff = true;
    this.#stream.destroy(new Error(reason));
  }

  /** Notes that a query waits, and begins its span. Returns the function to call when it has ended, with its error if it failed. */
  #beginQuery(query: unknown): Settle {
    this.#startWaiting();
    const span = traceStatement(query);
    return (error) => {
      this.#stopWaiting();
      if (error) span?.fail(error);
      else span?.end();
    };
  }

  #send(args: unknown[], settle: Settle): unknown {
    try {
      return super.query(...(args as [never]));
    } catch (error) {
      settle(error);
      throw error;
    }
  }

  get #stream() {
    return (this as unknown as { connection: { stream: { bytesRead: number; destroy(error: Error): void } } }).connection.stream;
  }

  #startWaiting(): void {
    if (this.#waiting++ > 0) return;
    this.#heardAt = performance.now();
    this.#bytesRead = this.#stream.bytesRead;
  }

  #stopWaiting(): void {
    this.#waiting--;
  }
}

type Settle = (error?: unknown) => void;

function settled<T>(result: Promise<T>, settle: Settle): Promise<T> {
  return result.then(
    (value) => {
      settle();
      return value;
    },
    (error: unknown) => {
      settle(error);
      throw toUnavailable(error);
    },
  );
}
