import { Readable } from 'node:stream';
import { DeleteObjectsCommand, GetObjectCommand, HeadObjectCommand, ListObjectsV2Command, type S3Client } from '@aws-sdk/client-s3';
import { Upload } from '@aws-sdk/lib-storage';
import { noteFailure } from '../../adapters/storage/note-failure.ts';
import { StorageUnavailable } from '../../adapters/storage/port.ts';
import { readInTime } from '../../adapters/storage/read-in-time.ts';
import { createS3Client, isAbsent, statusOf } from '../../adapters/storage/s3-client.ts';
import { OpsError } from '../context.ts';
import { type Place, PlaceError } from './place.ts';

const timeoutMs = 30_000;
/** How long requests are sent again while the bucket is away, and the pause before each. */
const patienceMs = 60_000;
const pauseMs = 2_000;
/** How often in succession a file may break off without a byte. */
const attempts = 3;
/** The size of a part of a file, in memory at once. S3 takes 10,000 parts, so that a table may have 320 GB. */
const partBytes = 32 * 1024 * 1024;

interface Clients {
  writer: S3Client;
  /** A reader may pause for any time without losing its connection. */
  reader: S3Client;
}

/** A prefix of a bucket. Server and key are those that the library of Amazon finds: in `AWS_…`, its files, or the machine. */
export function openBucket(bucket: string, path: string): Place {
  const access = { pathStyle: true };
  const bounds = { connectMs: timeoutMs, idleMs: timeoutMs, retryStrategy };
  const clients = {
    writer: createS3Client(access, undefined, bounds),
    reader: createS3Client(access, undefined, { ...bounds, idleMs: 0 }),
  };
  return new BucketPlace(clients, bucket, path);
}

/** The strategies of the library share a quota of retries among all requests, which those under way use up within a second. */
const retryStrategy = {
  acquireInitialRetryToken: async () => tokenOf(0, Date.now()),
  async refreshRetryTokenForRetry({ since, getRetryCount }: RetryToken, { errorType }: { errorType: string }) {
    const passes = errorType === 'TRANSIENT' || errorType === 'THROTTLING';
    if (!passes || Date.now() - since > patienceMs) throw new Error('The request is not sent again.');
    return tokenOf(getRetryCount() + 1, since);
  },
  recordSuccess() {},
};

type RetryToken = ReturnType<typeof tokenOf>;

const tokenOf = (count: number, since: number) => ({ since, getRetryCount: () => count, getRetryDelay: () => pauseMs });

class BucketPlace implements Place {
  readonly name: string;
  readonly #clients: Clients;
  readonly #bucket: string;
  readonly #path: string;

  constructor(clients: Clients, bucket: string, path: string) {
    this.name = `s3://${bucket}${path && `/${path}`}`;
    this.#clients = clients;
    this.#bucket = bucket;
    this.#path = path;
  }

  in(name: string): Place {
    return new BucketPlace(this.#clients, this.#bucket, this.#key(name));
  }

  async list(): Promise<string[]> {
    const names: string[] = [];
    for await (const { CommonPrefixes = [] } of this.#pages({ Delimiter: '/' }))
      for (const { Prefix = '' } of CommonPrefixes) names.push(Prefix.slice(this.#key('').length, -1));
    return names;
  }

  async makeEmpty(): Promise<void> {
    for await (const { KeyCount = 0 } of this.#pages({ MaxKeys: 1 }))
      if (KeyCount > 0) throw new OpsError(`${this.name} is not empty. A backup needs a new prefix.`);
  }

  async write(file: string, source: AsyncIterable<Buffer>): Promise<void> {
    const noted = noteFailure(source);
    const params = { Bucket: this.#bucket, Key: this.#key(file), Body: Readable.from(noted.source, { objectMode: false }) };
    try {
      await new Upload({ client: this.#clients.writer, params, queueSize: 1, partSize: partBytes }).done();
    } catch (error) {
      // What the bucket is not to blame for: a database that ends the connection, a document that is gone meanwhile.
      throw noted.failure ? noted.failure.reason : this.#failed(error);
    }
  }

  read(file: string): Readable {
    return Readable.from(this.#bytes(file), { objectMode: false });
  }

  /** A file that breaks off is read on from there. */
  async *#bytes(file: string): AsyncGenerator<Buffer> {
    const at = { Bucket: this.#bucket, Key: this.#key(file) };
    for (let read = 0, attempt = 1; ; attempt++) {
      const range = read > 0 ? { Range: `bytes=${read}-` } : {};
      const { Body } = await this.#ask(this.#clients.reader.send(new GetObjectCommand({ ...at, ...range })));
      try {
        for await (const chunk of readInTime(Body as Readable, timeoutMs) as AsyncIterable<Buffer>) {
          attempt = 0;
          read += chunk.length;
          yield chunk;
        }
        return;
      } catch (error) {
        if (attempt >= attempts || !(error instanceof StorageUnavailable)) throw this.#failed(error);
      }
    }
  }

  async has(file: string): Promise<boolean> {
    const head = new HeadObjectCommand({ Bucket: this.#bucket, Key: this.#key(file) });
    return await this.#clients.writer.send(head).then(
      () => true,
      (error) => {
        if (statusOf(error) === 404) return false;
        throw this.#failed(error);
      },
    );
  }

  async remove(file: string): Promise<void> {
    await this.#delete([this.#key(file)]);
  }

  async clear(): Promise<void> {
    for await (const { Contents = [] } of this.#pages({})) await this.#delete(Contents.flatMap(({ Key }) => Key ?? []));
  }

  async removePlace(name: string): Promise<void> {
    await this.in(name).clear();
  }

  async #delete(keys: string[]): Promise<void> {
    if (keys.length === 0) return;
    const Delete = { Objects: keys.map((Key) => ({ Key })), Quiet: true };
    const { Errors = [] } = await this.#ask(this.#clients.writer.send(new DeleteObjectsCommand({ Bucket: this.#bucket, Delete })));
    const [first] = Errors.filter(({ Code }) => Code !== 'NoSuchKey');
    if (first) throw this.#failed(new Error(`${first.Key}: ${first.Code}`));
  }

  async *#pages(options: { Delimiter?: string; MaxKeys?: number }) {
    for (let token: string | undefined; ; ) {
      const where = { Bucket: this.#bucket, Prefix: this.#key(''), ...options, ContinuationToken: token };
      const page = await this.#ask(this.#clients.writer.send(new ListObjectsV2Command(where)));
      yield page;
      token = page.IsTruncated ? page.NextContinuationToken : undefined;
      if (token === undefined) return;
    }
  }

  #key(name: string): string {
    return this.#path === '' ? name : `${this.#path}/${name}`;
  }

  async #ask<T>(answer: Promise<T>): Promise<T> {
    try {
      return await answer;
    } catch (error) {
      throw this.#failed(error);
    }
  }

  #failed(error: unknown): Error {
    if (error instanceof PlaceError) return error;
    const reason = error instanceof Error ? `${error.name}: ${error.message}` : String(error);
    return new PlaceError(`${this.name}: ${reason}`, isAbsent(error) ? 'ENOENT' : 'EIO', { cause: error });
  }
}
