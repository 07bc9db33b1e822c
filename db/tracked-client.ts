import pg from 'pg';
import { traceStatement } from './trace-statement.ts';
import { toUnavailable } from './unavailable.ts';

/** A connection that knows how long its server has said nothing, and can be broken off. Its own errors are DatabaseUnavailable. */
export class TrackedClient extends pg.Client {
  #pending = 0;
  #heardAt = 0;
  #bytesRead = 0;
  #brokenOff = false;

  // biome-ignore lint/suspicious/noExplicitAny: pg's own signature has a dozen overloads, which this passes through.
  override query(...args: any[]): any {
    this.#begin();
    const span = traceStatement(args[0]);
    const callback = args.at(-1);
    if (typeof callback === 'function') {
      args[args.length - 1] = (error: unknown, result: unknown) => {
        this.#end();
        if (error) span?.fail(error);
        else span?.end();
        callback(error && toUnavailable(error), result);
      };
      return this.#send(args);
    }
    const result: unknown = this.#send(args);
    if (!(result instanceof Promise)) {
      this.#end();
      span?.end();
      return result;
    }
    return result.then(
      (value) => {
        this.#end();
        span?.end();
        return value;
      },
      (error: unknown) => {
        this.#end();
        span?.fail(error);
        throw toUnavailable(error);
      },
    );
  }

  // biome-ignore lint/suspicious/noExplicitAny: as above.
  override connect(...callback: any[]): any {
    this.#begin();
    const [done] = callback;
    if (typeof done !== 'function') return super.connect().finally(() => this.#end());
    return super.connect((error: Error) => {
      this.#end();
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
    if (this.#pending === 0) return 0;
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

  #send(args: unknown[]): unknown {
    try {
      return super.query(...(args as [never]));
    } catch (error) {
      this.#end();
      throw error;
    }
  }

  get #stream() {
    return (this as unknown as { connection: { stream: { bytesRead: number; destroy(error: Error): void } } }).connection.stream;
  }

  #begin(): void {
    if (this.#pending++ === 0) {
      this.#heardAt = performance.now();
      this.#bytesRead = this.#stream.bytesRead;
    }
  }

  #end(): void {
    this.#pending--;
  }
}
