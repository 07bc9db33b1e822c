import { Readable } from 'node:stream';
import {
  DeleteObjectCommand,
  DeleteObjectsCommand,
  GetObjectCommand,
  type GetObjectCommandOutput,
  HeadObjectCommand,
  type HeadObjectCommandOutput,
  ListObjectsV2Command,
  PutObjectCommand,
  type S3Client,
} from '@aws-sdk/client-s3';
import { Upload } from '@aws-sdk/lib-storage';
import { getSignedUrl } from '@aws-sdk/s3-request-presigner';
import { contentDisposition } from './content-disposition.ts';
import { noteFailure } from './note-failure.ts';
import { assertObjectKey, isObjectKey, markerName, organizationOfPrefix } from './object-key.ts';
import {
  type Deletion,
  type DownloadTarget,
  downloadLifetimeMs,
  type Storage,
  StorageUnavailable,
  type StoredObject,
  type UploadTarget,
  uploadLifetimeMs,
} from './port.ts';
import { readInTime } from './read-in-time.ts';
import { askInTime, availabilityOf, createS3Client, isAbsent, type S3ClientOptions, statusOf, wasRepeated } from './s3-client.ts';
import { ObjectExistsError } from './write-once.ts';

/** The maximum number of objects in a list, and in a request to delete. */
const pageSize = 1000;
const defaultTimeoutMs = 30_000;
/** How often each request of a write is sent, if the server is busy or a connection breaks. */
const writeAttempts = 3;

export interface S3StorageOptions extends S3ClientOptions {
  bucket: string;
  /** The address of the server; undefined for that of Amazon. */
  apiEndpoint?: string | undefined;
  /** The address in signed links, as clients reach the server; `apiEndpoint` by default. */
  publicEndpoint?: string | undefined;
  /** For each request to the server, 30 s by default. */
  timeoutMs?: number | undefined;
  /** The clock by which links are signed. */
  now?: (() => Date) | undefined;
}

/** Objects in a bucket of Amazon S3, or of another server that speaks S3, which clients reach directly through presigned URLs. */
export class S3Storage implements Storage {
  readonly driver = 'bucket';
  readonly location: string;
  readonly #client: S3Client;
  /** The client for reads. A reader may pause for any time without losing its connection. */
  readonly #reader: S3Client;
  readonly #writer: S3Client;
  readonly #signer: S3Client;
  readonly #timeoutMs: number;
  readonly #now: () => Date;

  constructor(options: S3StorageOptions) {
    const { bucket, apiEndpoint, publicEndpoint = apiEndpoint, timeoutMs = defaultTimeoutMs } = options;
    this.location = bucket;
    this.#timeoutMs = timeoutMs;
    const bounds = { connectMs: timeoutMs, idleMs: timeoutMs };
    // The caller retries; the library's own retries would take longer than a request may. But the source of a write cannot be read again.
    this.#client = createS3Client(options, apiEndpoint, bounds);
    this.#reader = createS3Client(options, apiEndpoint, { ...bounds, idleMs: 0 });
    this.#writer = createS3Client(options, apiEndpoint, { ...bounds, attempts: writeAttempts });
    this.#signer = publicEndpoint === apiEndpoint ? this.#client : createS3Client(options, publicEndpoint, bounds);
    this.#now = options.now ?? (() => new Date());
  }

  async signUpload({ key, contentType, sizeBytes }: { key: string; contentType: string; sizeBytes?: number }): Promise<UploadTarget> {
    // Stores only if the key has no object yet: a second PUT is refused with 412.
    const conditions = { ContentType: contentType, ContentLength: sizeBytes, IfNoneMatch: '*' };
    const target = await this.#sign(new PutObjectCommand({ ...this.#at(key), ...conditions }), uploadLifetimeMs);
    // Every client sends the length itself, and browsers do not let scripts set it.
    return { ...target, headers: { 'Content-Type': contentType, 'If-None-Match': '*' } };
  }

  async signDownload({ key, contentType, fileName }: { key: string; contentType: string; fileName: string }): Promise<DownloadTarget> {
    const response = { ResponseContentType: contentType, ResponseContentDisposition: contentDisposition(fileName) };
    return await this.#sign(new GetObjectCommand({ ...this.#at(key), ...response }), downloadLifetimeMs);
  }

  async #sign(command: PutObjectCommand | GetObjectCommand, lifetimeMs: number): Promise<DownloadTarget> {
    // A URL counts whole seconds.
    const signingDate = new Date(Math.floor(this.#now().getTime() / 1000) * 1000);
    const options = { signingDate, expiresIn: lifetimeMs / 1000, signableHeaders: new Set(['content-type']) };
    return await askInTime(this.#timeoutMs, async () => {
      // A URL expires with the credentials that signed it.
      const { expiration } = await this.#signer.config.credentials();
      const url = await getSignedUrl(this.#signer, command, options);
      const expiresAt = signingDate.getTime() + lifetimeMs;
      return { url, expiresAt: new Date(Math.min(expiresAt, expiration?.getTime() ?? expiresAt)) };
    });
  }

  async stat(key: string): Promise<StoredObject | undefined> {
    const measured = await this.#measure(key);
    return measured && { sizeBytes: lengthOf(measured) };
  }

  async #measure(key: string): Promise<HeadObjectCommandOutput | undefined> {
    const at = this.#at(key);
    return await askInTime(this.#timeoutMs, async (options) => {
      try {
        return await this.#client.send(new HeadObjectCommand(at), options);
      } catch (error) {
        if (statusOf(error) !== 404) throw error;
        // The response to a HEAD does not say whether the object or the bucket is missing; this request throws for a bucket.
        await this.#client.send(new ListObjectsV2Command({ Bucket: at.Bucket, Prefix: key, MaxKeys: 1 }), options);
        return undefined;
      }
    });
  }

  async read(key: string): Promise<Readable | undefined> {
    const at = this.#at(key);
    const found = await this.#unlessAbsent((options) => this.#reader.send(new GetObjectCommand(at), options));
    return found && readInTime(streamOf(found), this.#timeoutMs);
  }

  async write(key: string, source: AsyncIterable<Buffer>): Promise<void> {
    const noted = noteFailure(source);
    // In an upload of several requests the last one has the condition. If the source fails, its parts are deleted.
    const params = { ...this.#at(key), Body: Readable.from(noted.source), IfNoneMatch: '*' };
    try {
      await new Upload({ client: this.#writer, params, queueSize: 1 }).done();
    } catch (error) {
      if (noted.failure) throw noted.failure.reason;
      // An earlier attempt may have stored the object that now exists, or completed the upload that is now gone.
      if (wasRepeated(error) && [404, 412].includes(statusOf(error) ?? 0)) throw new StorageUnavailable(error);
      throw statusOf(error) === 412 ? new ObjectExistsError() : availabilityOf(error);
    }
  }

  async delete(key: string): Promise<void> {
    const at = this.#at(key);
    await this.#unlessAbsent((options) => this.#client.send(new DeleteObjectCommand(at), options));
  }

  async *deleteMany(keys: readonly string[]): AsyncGenerator<Deletion> {
    for (let start = 0; start < keys.length; start += pageSize) yield await this.#deletePortion(keys.slice(start, start + pageSize));
  }

  async #deletePortion(keys: string[]): Promise<Deletion> {
    const Delete = { Objects: keys.map((key) => ({ Key: assertObjectKey(key) })), Quiet: true };
    const command = new DeleteObjectsCommand({ Bucket: this.location, Delete });
    try {
      const { Errors = [] } = await askInTime(this.#timeoutMs, (options) => this.#client.send(command, options));
      const refused = new Map<string, unknown>();
      for (const { Key, Code, Message } of Errors) {
        const reason = new Error(`${Code}: ${Message}`);
        // An error without a key concerns all keys.
        if (Key === undefined) throw reason;
        if (Code !== 'NoSuchKey') refused.set(Key, reason);
      }
      return { deleted: keys.filter((key) => !refused.has(key)), refused };
    } catch (error) {
      return { deleted: [], refused: new Map(keys.map((key) => [key, error])) };
    }
  }

  async deleteIfLarger(key: string, maxBytes: number): Promise<void> {
    const measured = await this.#measure(key);
    if (!measured || lengthOf(measured) <= maxBytes || measured.ETag === undefined) return;
    const condition = { ...this.#at(key), IfMatch: measured.ETag };
    try {
      await this.#unlessAbsent((options) => this.#client.send(new DeleteObjectCommand(condition), options));
    } catch (error) {
      // The object was replaced meanwhile.
      if (statusOf(error) !== 412) throw error;
    }
  }

  async *list(prefix: string, from?: string): AsyncGenerator<{ key: string; createdAt: Date }> {
    organizationOfPrefix(prefix);
    const where = {
      Bucket: this.location,
      Prefix: prefix,
      MaxKeys: pageSize,
      ...(from === undefined ? {} : { StartAfter: justBefore(from) }),
    };
    let next: string | undefined;
    do {
      const command = new ListObjectsV2Command({ ...where, ContinuationToken: next });
      const page = await askInTime(this.#timeoutMs, (options) => this.#client.send(command, options));
      for (const { Key, LastModified } of page.Contents ?? []) {
        // A bucket may hold objects of other applications.
        if (Key !== undefined && isObjectKey(Key)) yield { key: Key, createdAt: LastModified ?? new Date(0) };
      }
      const before = next;
      next = page.IsTruncated ? page.NextContinuationToken : undefined;
      // Some servers would return the same page for ever.
      if (page.IsTruncated && (next === undefined || next === before)) throw new StorageUnavailable('a list of objects does not go on');
    } while (next !== undefined);
  }

  async owner(): Promise<string | undefined> {
    return await this.#unlessAbsent(async (options) => {
      const marker = await this.#client.send(new GetObjectCommand({ Bucket: this.location, Key: markerName }), options);
      return (await marker.Body?.transformToString())?.trim();
    });
  }

  async claim(deployment: string): Promise<string> {
    // Reads first: a server that ignores the condition would replace the marker of another deployment.
    const owner = await this.owner();
    if (owner !== undefined) return owner;
    await this.#mark(deployment);
    if (await this.#mark(deployment)) throw await this.#unmarked();
    const marked = await this.owner();
    if (marked === undefined) throw new Error(`The marker of the bucket ${this.location} is gone again.`);
    return marked;
  }

  /** Writes the marker unless there is one. Returns whether it did. */
  async #mark(deployment: string): Promise<boolean> {
    const marker = { Bucket: this.location, Key: markerName, Body: deployment, ContentType: 'text/plain', IfNoneMatch: '*' };
    try {
      await askInTime(this.#timeoutMs, (options) => this.#client.send(new PutObjectCommand(marker), options));
      return true;
    } catch (error) {
      if (statusOf(error) === 412) return false;
      throw error;
    }
  }

  /** Removes the marker and returns the error for a server that replaces objects, so that the next claim detects it again. */
  async #unmarked(): Promise<Error> {
    const marker = new DeleteObjectCommand({ Bucket: this.location, Key: markerName });
    await askInTime(this.#timeoutMs, (options) => this.#client.send(marker, options));
    return new Error(`The server of the bucket ${this.location} replaces objects in spite of If-None-Match.`);
  }

  async #unlessAbsent<T>(ask: (options: { abortSignal: AbortSignal }) => Promise<T>): Promise<T | undefined> {
    try {
      return await askInTime(this.#timeoutMs, ask);
    } catch (error) {
      if (isAbsent(error)) return undefined;
      throw error;
    }
  }

  #at(key: string): { Bucket: string; Key: string } {
    return { Bucket: this.location, Key: assertObjectKey(key) };
  }
}

function streamOf({ Body }: GetObjectCommandOutput): Readable {
  if (Body instanceof Readable) return Body;
  throw new Error('The server sent an object without a body.');
}

/** The length of an object. Throws if the server or a proxy leaves it out: a document of any size would otherwise count as empty. */
function lengthOf({ ContentLength }: HeadObjectCommandOutput): number {
  if (ContentLength === undefined)
    throw new Error('The server does not say how long an object is: its response to a HEAD needs a Content-Length.');
  return ContentLength;
}

/** A text that comes just before a key, after every key before it: lists begin after it. */
function justBefore(key: string): string {
  // No character of a key comes after the tilde.
  return `${key.slice(0, -1)}${String.fromCharCode(key.charCodeAt(key.length - 1) - 1)}~`;
}
