import { createServer, type Server, type ServerOptions } from 'node:http';
import { connect } from 'node:net';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import express, { type ErrorRequestHandler } from 'express';
import { LocalStorage } from '../../../adapters/storage/local.ts';
import type { UploadTarget } from '../../../adapters/storage/port.ts';
import type { UploadLimits } from '../../../api/uploads/admission.ts';
import type { DownloadLimits } from '../../../api/uploads/download-permits.ts';
import { deferContinueOfUploads } from '../../../api/uploads/expect-continue.ts';
import { uploadRoutes } from '../../../api/uploads/upload.ts';
import { deriveKey } from '../../../base/config/keys.ts';
import { contentTypes } from '../../../contract/content-types.ts';
import { makeTestDirectory, removeTestDirectory } from '../../support/directories.ts';

export interface UploadServer {
  url: string;
  port: number;
  storage: LocalStorage;
  dataDir: string;
  maxUploadBytes: number;
  /** The clock that signed query strings expire by. */
  clock: { offsetMs: number };
  /** The declared sizes of documents, by their keys; without one it is the largest. */
  declared: Map<string, number>;
  /** Keys of objects whose documents were deleted. */
  deleted: Set<string>;
  /** Why the operator was told that the disk is full. */
  toldOfFullDisk: unknown[];
  /** What the server failed with: answered with 500, as the API does. */
  failures: unknown[];
  /** Resolves once no upload is under way, those that nobody waits for included. */
  settled(): Promise<void>;
  close(): Promise<void>;
}

const defaultLimits: UploadLimits = {
  minBytesPerSecond: 1,
  rateWindowMs: 60_000,
  incomingBytes: 1e12,
  incomingBytesPerOrganization: 1e12,
  reserveBytes: 0,
};

/** Knows what it is still doing for requests whose clients have left. */
class TrackedStorage extends LocalStorage {
  readonly #pending = new Set<Promise<unknown>>();

  override stat(...input: Parameters<LocalStorage['stat']>) {
    return this.#track(super.stat(...input));
  }

  override write(...input: Parameters<LocalStorage['write']>) {
    return this.#track(super.write(...input));
  }

  async settled(): Promise<void> {
    while (this.#pending.size > 0) {
      await Promise.allSettled(this.#pending);
      // What waited for the one begins the next.
      await setImmediate();
    }
  }

  #track<T>(promise: Promise<T>): Promise<T> {
    this.#pending.add(promise);
    promise.catch(() => undefined).finally(() => this.#pending.delete(promise));
    return promise;
  }
}

/** The upload route on a free port, over a directory of its own; behind the middleware that gives requests their id, as in the API. */
export async function startUploadServer(
  options: { maxUploadBytes?: number; limits?: Partial<UploadLimits>; downloads?: Partial<DownloadLimits>; http?: ServerOptions } = {},
): Promise<UploadServer> {
  const maxUploadBytes = options.maxUploadBytes ?? 1_000_000;
  const dataDir = makeTestDirectory();
  const app = express();
  const server = createServer(options.http ?? {}, app);
  const port = await listen(server);
  const url = `http://127.0.0.1:${port}`;
  const clock = { offsetMs: 0 };
  const storage = new TrackedStorage({
    directory: join(dataDir, 'objects'),
    publicUrl: url,
    secrets: [deriveKey('a secret of sixteen letters', 'signed-url')],
    now: () => new Date(Date.now() + clock.offsetMs),
  });
  app.use((_req, res, next) => {
    res.locals.requestId = 'request-1';
    next();
  });
  const deleted = new Set<string>();
  const declared = new Map<string, number>();
  const findDeclaredBytes = async (...ids: string[]) => {
    const key = ids.join('/');
    return deleted.has(key) ? undefined : (declared.get(key) ?? maxUploadBytes);
  };
  const storeDigest = async (...ids: unknown[]) => !deleted.has(ids.slice(0, 2).join('/'));
  const limits = { ...defaultLimits, ...options.limits };
  const toldOfFullDisk: unknown[] = [];
  const onStorageFull = (reason: unknown) => void toldOfFullDisk.push(reason);
  app.use(
    uploadRoutes({
      storage,
      findDeclaredBytes,
      storeDigest,
      maxUploadBytes,
      contentTypes,
      limits,
      downloads: options.downloads,
      onStorageFull,
    }),
  );
  const failures: unknown[] = [];
  const answerInternalError: ErrorRequestHandler = (error, _req, res, _next) => {
    failures.push(error);
    res.status(500).json({ error: 'internal_error' });
  };
  app.use(answerInternalError);
  deferContinueOfUploads(server);
  return {
    ...{ url, port, storage, dataDir, maxUploadBytes, clock, declared, deleted, toldOfFullDisk, failures },
    settled: () => storage.settled(),
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
      await storage.settled();
      removeTestDirectory(dataDir);
    },
  };
}

/** The head of a PUT to a signed target, as bytes: with exactly the target's headers and these. */
export function putHead(target: Pick<UploadTarget, 'url' | 'headers'>, headers: Record<string, string | number>): string {
  const { pathname, search } = new URL(target.url);
  const lines = Object.entries({ Host: 'localhost', ...target.headers, ...headers }).map(([name, value]) => `${name}: ${value}\r\n`);
  return `PUT ${pathname}${search} HTTP/1.1\r\n${lines.join('')}\r\n`;
}

/** Sends bytes over a connection as they are, and resolves to all that came back once the server closes it. */
export function exchange(port: number, request: (string | Buffer)[], { end = false } = {}): Promise<string> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    const socket = connect(port, '127.0.0.1', () => {
      for (const part of request) socket.write(part);
      if (end) socket.end();
    });
    socket.on('data', (chunk) => chunks.push(chunk));
    socket.once('error', reject).once('close', () => resolve(Buffer.concat(chunks).toString()));
  });
}

function listen(server: Server): Promise<number> {
  return new Promise((resolve) => {
    server.listen(0, '127.0.0.1', () => {
      const address = server.address();
      resolve(typeof address === 'object' && address ? address.port : 0);
    });
  });
}
