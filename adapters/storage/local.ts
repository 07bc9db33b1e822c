import { randomUUID } from 'node:crypto';
import { rmSync, statSync } from 'node:fs';
import { link, mkdir, open, opendir, readFile, rm, stat, statfs, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import type { Readable } from 'node:stream';
import { deleteInParallel } from './delete-in-parallel.ts';
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
import { type Grant, readGrant, signGrant } from './signature.ts';
import { isCode, type WriteOptions, writeOnce } from './write-once.ts';

// An upload in progress writes at least once a minute, or is cut off.
const abandonedAfterMs = 10 * 60 * 1000;
// Cannot be the directory of an organization: keys begin with a letter, a digit, `_` or `-`.
const incomingName = '.incoming';

/**
 * Objects as files, `<directory>/<organizationId>/<documentId>`, served by this service's `/uploads` route with signed
 * query strings. Several processes may share the directory.
 */
export class LocalStorage implements Storage {
  readonly driver = 'local';
  readonly location: string;
  readonly #publicUrl: string;
  readonly #secrets: [Buffer, ...Buffer[]];
  readonly #incoming: string;
  readonly #marker: string;
  /** Whether the directory had its marker. If it has none now, another directory is in its place. */
  #wasMarked = false;
  readonly #now: () => Date;

  /**
   * `publicUrl` is the root below which `/uploads` is mounted. The first of `secrets` signs the query strings, each verifies them; `now` is
   * the clock of their expiry.
   */
  constructor(options: { directory: string; publicUrl: string; secrets: [Buffer, ...Buffer[]]; now?: () => Date }) {
    this.location = resolve(options.directory);
    this.#publicUrl = options.publicUrl;
    this.#secrets = options.secrets;
    this.#incoming = join(this.location, incomingName);
    this.#marker = join(this.location, markerName);
    this.#now = options.now ?? (() => new Date());
  }

  async signUpload({ key, contentType }: { key: string; contentType: string }): Promise<UploadTarget> {
    const { url, expiresAt } = this.#sign({ method: 'PUT', key, contentType }, uploadLifetimeMs);
    return { url, headers: { 'Content-Type': contentType }, expiresAt };
  }

  async signDownload(input: { key: string; contentType: string; fileName: string }): Promise<DownloadTarget> {
    return this.#sign({ method: 'GET', ...input }, downloadLifetimeMs);
  }

  /** The grant of a request's signed query string; undefined if it is invalid or has expired. */
  readGrant(request: Omit<Parameters<typeof readGrant>[1], 'now'>): Grant | undefined {
    if (!isObjectKey(request.key)) return undefined;
    const now = this.#now();
    return this.#secrets.map((secret) => readGrant(secret, { ...request, now })).find((grant) => grant !== undefined);
  }

  /**
   * Stores the bytes of `source` under a key that has none yet. Throws `ObjectExistsError`, StorageUnavailable if the directory is no
   * longer mounted, or the source's error; then nothing is stored.
   */
  async write(key: string, source: AsyncIterable<Buffer>, options?: WriteOptions): Promise<void> {
    await this.#checkMounted();
    await writeOnce({ target: this.pathOf(key), incomingDirectory: this.#incoming }, source, options);
  }

  /** The file of an object, whether it exists or not. */
  pathOf(key: string): string {
    return join(this.location, assertObjectKey(key));
  }

  async stat(key: string): Promise<StoredObject | undefined> {
    const found = await this.#ifStored(stat(this.pathOf(key)));
    return found && { sizeBytes: found.size };
  }

  async read(key: string): Promise<Readable | undefined> {
    const handle = await this.#ifStored(open(this.pathOf(key)));
    return handle?.createReadStream();
  }

  async delete(key: string): Promise<void> {
    await this.#ifStored(rm(this.pathOf(key)));
  }

  deleteMany(keys: readonly string[]): AsyncGenerator<Deletion> {
    return deleteInParallel(keys, (key) => this.delete(key));
  }

  async deleteIfLarger(key: string, maxBytes: number): Promise<void> {
    // Synchronous, because during a wait another object could replace the measured one.
    const found = statSync(this.pathOf(key), { throwIfNoEntry: false });
    if (found && found.size > maxBytes) rmSync(this.pathOf(key), { force: true });
  }

  /** How many bytes this process may still write to the disk. */
  async freeBytes(): Promise<number> {
    await mkdir(this.location, { recursive: true });
    const { bavail, bsize } = await statfs(this.location);
    return bavail * bsize;
  }

  /** Removes unfinished uploads that were not written to for ten minutes: their process was killed. */
  async removeAbandoned(): Promise<void> {
    for await (const name of namesIn(this.#incoming)) {
      const path = join(this.#incoming, name);
      const found = await ifExists(stat(path));
      if (found && Date.now() - found.mtimeMs > abandonedAfterMs) await rm(path, { force: true });
    }
  }

  /** Lists as the port says; also removes unfinished uploads of killed processes. */
  async *list(prefix: string, from?: string): AsyncGenerator<{ key: string; createdAt: Date }> {
    const organizationId = organizationOfPrefix(prefix);
    await this.removeAbandoned();
    if (organizationId !== undefined) return yield* this.#listOrganization(organizationId);
    const first = from?.slice(0, from.indexOf('/')) ?? '';
    // In order, so that a list can begin in the middle.
    const names = (await Array.fromAsync(namesIn(this.location))).sort();
    for (const name of names) if (name >= first) yield* this.#listOrganization(name);
  }

  async owner(): Promise<string | undefined> {
    const owner = (await this.#ifStored(readFile(this.#marker, 'utf8')))?.trim();
    this.#wasMarked ||= owner !== undefined;
    return owner;
  }

  async claim(deployment: string): Promise<string> {
    await mkdir(this.#incoming, { recursive: true });
    // Appears complete, even after a power failure, since an empty marker would name nobody.
    const written = join(this.#incoming, `${markerName}-${randomUUID()}`);
    await writeFile(written, deployment, { flush: true });
    try {
      await link(written, this.#marker);
    } catch (error) {
      if (!isCode(error, 'EEXIST')) throw error;
    } finally {
      await rm(written);
    }
    this.#wasMarked = true;
    return (await readFile(this.#marker, 'utf8')).trim();
  }

  async *#listOrganization(organizationId: string): AsyncGenerator<{ key: string; createdAt: Date }> {
    for await (const name of namesIn(join(this.location, organizationId))) {
      const key = `${organizationId}/${name}`;
      const found = isObjectKey(key) ? await ifExists(stat(this.pathOf(key))) : undefined;
      if (found) yield { key, createdAt: found.mtime };
    }
  }

  /** The result of a file operation; undefined if there is no such file. Throws StorageUnavailable if the whole store is missing. */
  async #ifStored<T>(promise: Promise<T>): Promise<T | undefined> {
    const found = await ifExists(promise);
    if (found === undefined) await this.#checkMounted();
    return found;
  }

  /** Throws StorageUnavailable if the directory had its marker and has lost it: the directory in its place is not the store. */
  async #checkMounted(): Promise<void> {
    if (this.#wasMarked && !(await ifExists(stat(this.#marker))))
      throw new StorageUnavailable('the directory of documents has lost its marker');
  }

  #sign(grant: Grant, lifetimeMs: number): DownloadTarget {
    assertObjectKey(grant.key);
    // The query string counts whole seconds.
    const expiresAt = new Date(Math.floor((this.#now().getTime() + lifetimeMs) / 1000) * 1000);
    return { url: `${this.#publicUrl}/uploads/${grant.key}?${signGrant(this.#secrets[0], grant, expiresAt)}`, expiresAt };
  }
}

/** The result of a file operation; undefined if there is no such file. */
async function ifExists<T>(promise: Promise<T>): Promise<T | undefined> {
  try {
    return await promise;
  } catch (error) {
    if (isCode(error, 'ENOENT') || isCode(error, 'ENOTDIR')) return undefined;
    throw error;
  }
}

/** The names in a directory, read incrementally; none if there is no such directory. */
async function* namesIn(directory: string): AsyncGenerator<string> {
  const entries = await ifExists(opendir(directory));
  if (!entries) return;
  for await (const entry of entries) yield entry.name;
}
