import { generateKeyPairSync } from 'node:crypto';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import {
  ApiError,
  type Bucket,
  Storage as CloudStorage,
  type File,
  type FileMetadata,
  type GetSignedUrlConfig,
  type StorageOptions,
} from '@google-cloud/storage';
import { GoogleAuth } from 'google-auth-library';
import { contentDisposition } from './content-disposition.ts';
import { deleteInParallel } from './delete-in-parallel.ts';
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
import { ObjectExistsError } from './write-once.ts';

const pageSize = 1000;
const defaultTimeoutMs = 30_000;
const awayMs = 1_000;
/** Request timeout, too many requests: the same request may succeed later. */
const passingStatuses = new Set([408, 429]);
/** A client may declare its bytes as compressed. Decompressed they would differ from the measured size, perhaps a thousandfold. */
const asStored = { decompress: false };

interface BucketStorageOptions {
  bucket: string;
  apiEndpoint?: string | undefined;
  maxUploadBytes: number;
  timeoutMs?: number | undefined;
  now?: (() => Date) | undefined;
}

/** Objects in a Google Cloud Storage bucket, which clients reach directly through v4 signed URLs. */
export class BucketStorage implements Storage {
  readonly driver = 'bucket';
  readonly location: string;
  readonly #bucket: Bucket;
  readonly #maxUploadBytes: number;
  readonly #timeoutMs: number;
  readonly #now: () => Date;
  /** The time until which no request is sent, because one has just got no response. */
  #awayUntil = 0;

  /**
   * `apiEndpoint` is the address of an emulator, which needs no credentials; without it the credentials come from the environment.
   * `timeoutMs` is for each request to the bucket, 30 s by default; `now` is the clock by which links are signed.
   */
  constructor(options: BucketStorageOptions) {
    this.location = options.bucket;
    this.#now = options.now ?? (() => new Date());
    this.#maxUploadBytes = options.maxUploadBytes;
    this.#timeoutMs = options.timeoutMs ?? defaultTimeoutMs;
    const access = options.apiEndpoint === undefined ? {} : emulated(options.apiEndpoint);
    // The caller retries; the library's own retries would take longer than a request may.
    this.#bucket = new CloudStorage({ ...access, retryOptions: { autoRetry: false } }).bucket(options.bucket);
  }

  async signUpload(input: { key: string; contentType: string }): Promise<UploadTarget> {
    const conditions = {
      // Stores only if the name has no object yet: a second PUT is refused with 412.
      'x-goog-if-generation-match': '0',
      'x-goog-content-length-range': `0,${this.#maxUploadBytes}`,
    };
    const target = await this.#sign(input.key, uploadLifetimeMs, {
      action: 'write',
      contentType: input.contentType,
      extensionHeaders: conditions,
    });
    return { ...target, headers: { 'Content-Type': input.contentType, ...conditions } };
  }

  async signDownload(input: { key: string; contentType: string; fileName: string }): Promise<DownloadTarget> {
    return await this.#sign(input.key, downloadLifetimeMs, {
      action: 'read',
      responseDisposition: contentDisposition(input.fileName),
      responseType: input.contentType,
    });
  }

  /** Without a key of its own the service lets Google sign, which may need a request for credentials. */
  async #sign(key: string, lifetimeMs: number, grant: Omit<GetSignedUrlConfig, 'version' | 'expires'>): Promise<DownloadTarget> {
    // A URL counts whole seconds.
    const accessibleAt = new Date(Math.floor(this.#now().getTime() / 1000) * 1000);
    const expiresAt = new Date(accessibleAt.getTime() + lifetimeMs);
    const file = this.#file(key);
    const [url] = await this.#ask(() => file.getSignedUrl({ ...grant, version: 'v4', accessibleAt, expires: expiresAt }));
    return { url, expiresAt };
  }

  async stat(key: string): Promise<StoredObject | undefined> {
    const measured = await this.#measure(key);
    return measured && { sizeBytes: Number(measured.size) };
  }

  async #measure(key: string): Promise<FileMetadata | undefined> {
    try {
      const [metadata] = await this.#ask(() => this.#file(key).getMetadata());
      return metadata;
    } catch (error) {
      if (error instanceof ApiError && error.code === 404) return undefined;
      throw error;
    }
  }

  async read(key: string): Promise<Readable | undefined> {
    if (!(await this.stat(key))) return undefined;
    const source = this.#file(key).createReadStream(asStored);
    // Google's library listens a dozen times to each body: of more than ten, Node warns for each object that is read.
    source.once('response', (body: Readable) => body.setMaxListeners(0));
    return readInTime(source, this.#timeoutMs);
  }

  async write(key: string, source: AsyncIterable<Buffer>): Promise<void> {
    // Stores only if the name has no object yet. An interrupted request stores nothing.
    const target = this.#file(key).createWriteStream({ resumable: false, validation: 'md5', preconditionOpts: { ifGenerationMatch: 0 } });
    const noted = noteFailure(source);
    const late = new AbortController();
    let timer: NodeJS.Timeout | undefined;
    const bound = () => {
      timer = setTimeout(() => late.abort(new StorageUnavailable('no response in time')), this.#timeoutMs);
    };
    /** Bounds the time in which the server accepts nothing, not the time in which the source gives nothing. */
    async function* bounded() {
      for await (const chunk of noted.source) {
        bound();
        yield chunk;
        clearTimeout(timer);
      }
      bound();
    }
    try {
      await pipeline(bounded(), target, { signal: late.signal });
    } catch (error) {
      if (noted.failure) throw noted.failure.reason;
      if (error instanceof ApiError && error.code === 412) throw new ObjectExistsError();
      throw availabilityOf(late.signal.aborted ? late.signal.reason : error);
    } finally {
      clearTimeout(timer);
    }
  }

  async delete(key: string): Promise<void> {
    await this.#ask(() => this.#file(key).delete({ ignoreNotFound: true }));
  }

  deleteMany(keys: readonly string[]): AsyncGenerator<Deletion> {
    return deleteInParallel(keys, (key) => this.delete(key));
  }

  async deleteIfLarger(key: string, maxBytes: number): Promise<void> {
    const measured = await this.#measure(key);
    if (!measured || Number(measured.size) <= maxBytes || measured.generation === undefined) return;
    try {
      await this.#ask(() => this.#file(key).delete({ ignoreNotFound: true, ifGenerationMatch: measured.generation }));
    } catch (error) {
      // The object was replaced meanwhile.
      if (!(error instanceof ApiError) || error.code !== 412) throw error;
    }
  }

  async *list(prefix: string, from?: string): AsyncGenerator<{ key: string; createdAt: Date }> {
    organizationOfPrefix(prefix);
    const begin = from === undefined ? {} : { startOffset: from };
    let pageToken: string | undefined;
    do {
      const page = { prefix, ...begin, pageToken, maxResults: pageSize, autoPaginate: false };
      const [files, next] = await this.#ask(() => this.#bucket.getFiles(page));
      for (const file of files) {
        // A bucket may hold objects of other applications.
        if (isObjectKey(file.name)) yield { key: file.name, createdAt: new Date(file.metadata.timeCreated ?? 0) };
      }
      const before = pageToken;
      pageToken = (next as { pageToken?: string } | null)?.pageToken;
      if (pageToken !== undefined && pageToken === before) throw new StorageUnavailable('a list of objects does not go on');
    } while (pageToken);
  }

  async owner(): Promise<string | undefined> {
    try {
      const [owner] = await this.#ask(() => this.#bucket.file(markerName).download());
      return owner.toString().trim();
    } catch (error) {
      if (error instanceof ApiError && error.code === 404) return undefined;
      throw error;
    }
  }

  async claim(deployment: string): Promise<string> {
    const marker = this.#bucket.file(markerName);
    try {
      const options = {
        resumable: false,
        validation: 'md5' as const,
        contentType: 'text/plain',
        preconditionOpts: { ifGenerationMatch: 0 },
      };
      await this.#ask(() => marker.save(deployment, options));
      return deployment;
    } catch (error) {
      if (!(error instanceof ApiError) || error.code !== 412) throw error;
    }
    const [owner] = await this.#ask(() => marker.download());
    return owner.toString().trim();
  }

  /**
   * Throws StorageUnavailable if a request gets no response in time, or is refused for now. The library can neither bound nor abort a
   * request: a request without a response keeps its connection, so no further ones are sent for a while.
   */
  async #ask<T>(request: () => Promise<T>): Promise<T> {
    if (performance.now() < this.#awayUntil) throw new StorageUnavailable('a request has just got no response');
    const late = Promise.withResolvers<never>();
    const timer = setTimeout(() => {
      this.#awayUntil = performance.now() + awayMs;
      late.reject(new StorageUnavailable('no response in time'));
    }, this.#timeoutMs);
    try {
      return await Promise.race([request(), late.promise]);
    } catch (error) {
      throw availabilityOf(error);
    } finally {
      clearTimeout(timer);
    }
  }

  #file(key: string): File {
    return this.#bucket.file(assertObjectKey(key));
  }
}

/** The error itself if the server refused for good; StorageUnavailable if a later attempt may succeed. */
function availabilityOf(error: unknown): unknown {
  return isRefusal(error) || error instanceof TypeError || error instanceof StorageUnavailable ? error : new StorageUnavailable(error);
}

function isRefusal(error: unknown): boolean {
  return error instanceof ApiError && typeof error.code === 'number' && error.code < 500 && !passingStatuses.has(error.code);
}

/** The options for an emulator: no credentials, only a generated key to sign URLs, whose signatures an emulator does not check. */
function emulated(apiEndpoint: string): StorageOptions {
  const { privateKey } = generateKeyPairSync('rsa', {
    modulusLength: 2048,
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
    publicKeyEncoding: { type: 'spki', format: 'pem' },
  });
  const auth = new GoogleAuth({ projectId: 'emulator' });
  // The option `credentials` is not used, since it logs a warning about external keys.
  auth.jsonContent = { type: 'service_account', client_email: 'emulator@localhost', private_key: privateKey };
  return { apiEndpoint, projectId: 'emulator', authClient: auth };
}
