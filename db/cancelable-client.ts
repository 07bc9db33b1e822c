import { AsyncLocalStorage } from 'node:async_hooks';
import pg from 'pg';
import { PreparingClient } from './preparing-client.ts';

const patienceMs = 2_000;
const current = new AsyncLocalStorage<AbortSignal>();

/**
 * Runs work whose queries end when the signal aborts: one that the server still runs is canceled there, and further ones are not sent.
 * They reject with the signal's reason, and a transaction is rolled back. The work must not use batched reads, which others share.
 */
export function cancelOnAbort<T>(signal: AbortSignal, work: () => Promise<T>): Promise<T> {
  return current.run(signal, work);
}

/** A connection whose queries {@link cancelOnAbort} ends. Its place among our clients: docs/decisions/database-client.md. */
export class CancelableClient extends PreparingClient {
  // biome-ignore lint/suspicious/noExplicitAny: pg's own signature has a dozen overloads, which this passes through.
  override query(...args: any[]): any {
    const signal = current.getStore();
    if (!signal || args[0] === 'rollback') return super.query(...args);
    if (signal.aborted) return Promise.reject(signal.reason);
    return this.#cancelOnAbort(super.query(...args), signal);
  }

  async #cancelOnAbort<T>(result: Promise<T>, signal: AbortSignal): Promise<T> {
    let canceling: Promise<void> | undefined;
    const cancel = () => {
      canceling = requestCancel(this);
    };
    signal.addEventListener('abort', cancel, { once: true });
    try {
      return await result;
    } catch (error) {
      if (signal.aborted) throw signal.reason;
      throw error;
    } finally {
      signal.removeEventListener('abort', cancel);
      // Until then the connection has no other query, which would be canceled instead.
      await canceling;
    }
  }
}

/**
 * Asks the server to cancel what a connection runs, and waits until it has taken note, or for two seconds. By Postgres's own message, and
 * not with `pg_cancel_backend`: behind a pooler the number that a client knows is not that of its backend.
 */
function requestCancel(client: pg.Client): Promise<void> {
  const { host, port, processID, secretKey } = client as unknown as Record<'host' | 'port' | 'processID' | 'secretKey', never>;
  const connection = new pg.Connection({ ssl: false }) as CancelConnection;
  const timer = setTimeout(() => connection.stream.destroy(), patienceMs);
  return new Promise((resolve) => {
    connection.once('connect', () => connection.cancel(processID, secretKey));
    // What could not be canceled ends by itself, at the latest with its timeout.
    connection.on('error', () => undefined);
    connection.stream.once('close', () => {
      clearTimeout(timer);
      resolve();
    });
    if (String(host).startsWith('/')) connection.connect(`${host}/.s.PGSQL.${port}`);
    else connection.connect(port, host);
  });
}

/** What pg's types leave out. */
interface CancelConnection extends Omit<pg.Connection, 'connect'> {
  connect(port: number | string, host?: string): void;
  cancel(processId: number, secretKey: number): void;
}
