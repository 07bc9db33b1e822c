import { type Entry, fromBufferPromise, type ZipFile } from 'yauzl';
import { ServiceError } from '../../service-error.ts';
import { charsetOfBom } from '../text/decode-text.ts';

const maxEntries = 10_000;
/** A document of this size in text would take a person years to read. */
const maxUnpackedBytes = 256 * 1024 * 1024;
/** XML packs well, but not so well. */
const maxRatio = 1_000;

/**
 * The files in a ZIP archive, unpacked piece by piece and never to a disk. The total size is bounded by the unpacked bytes, not by the
 * sizes that the archive declares. Throws ServiceError: 413 `expands_too_far`, 422 `unreadable_document` or `encrypted_document`.
 */
export class Archive {
  readonly #zip: ZipFile;
  readonly #entries: ReadonlyMap<string, Entry>;
  readonly #byAnyCase: ReadonlyMap<string, Entry>;
  readonly #kind: string;
  #unpackedBytes = 0;

  private constructor(zip: ZipFile, entries: ReadonlyMap<string, Entry>, kind: string) {
    this.#zip = zip;
    this.#entries = entries;
    this.#byAnyCase = new Map([...entries].map(([name, entry]) => [name.toLowerCase(), entry]));
    this.#kind = kind;
  }

  /** Opens an archive; `kind` says in errors what it should be, such as `a Word document`. */
  static async open(bytes: Uint8Array, kind: string): Promise<Archive> {
    try {
      const zip = await fromBufferPromise(mendEnd(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)), { lazyEntries: true });
      if (zip.entryCount > maxEntries) throw expandsTooFar();
      const entries = new Map<string, Entry>();
      // Names that lead out of the archive are an error of the library's own.
      for await (const entry of zip.eachEntry()) {
        if (entries.has(entry.fileName)) throw new Error('Two files have one name.');
        entries.set(entry.fileName, entry);
      }
      return new Archive(zip, entries, kind);
    } catch (error) {
      throw error instanceof ServiceError ? error : damaged(kind, error);
    }
  }

  /** The names of its files that are like this. */
  names(pattern: RegExp): string[] {
    return [...this.#entries.keys()].filter((name) => pattern.test(name));
  }

  has(name: string): boolean {
    return this.#find(name) !== undefined;
  }

  /** Names of parts of Office documents are the same in any case. */
  #find(name: string): Entry | undefined {
    return this.#entries.get(name) ?? this.#byAnyCase.get(name.toLowerCase());
  }

  /** The size of a file as the archive declares it, which unpacking checks. */
  sizeOf(name: string): number {
    return this.#find(name)?.uncompressedSize ?? 0;
  }

  /** The bytes of a file, piece by piece. Throws if there is none. */
  async *read(name: string): AsyncGenerator<Buffer> {
    const entry = this.#find(name);
    if (!entry) throw damaged(this.#kind, new Error(`There is no ${name}.`));
    if (entry.isEncrypted()) throw new ServiceError(422, 'encrypted_document', 'The document is encrypted.');
    if (entry.uncompressedSize > Math.max(1024 * 1024, entry.compressedSize * maxRatio)) throw expandsTooFar();
    try {
      for await (const piece of await this.#zip.openReadStreamPromise(entry)) {
        this.#unpackedBytes += (piece as Buffer).length;
        if (this.#unpackedBytes > maxUnpackedBytes) throw expandsTooFar();
        yield piece as Buffer;
      }
    } catch (error) {
      throw error instanceof ServiceError ? error : damaged(this.#kind, error);
    }
  }

  /** The text of a file, piece by piece: UTF-8, or UTF-16 with its mark. */
  async *readText(name: string): AsyncGenerator<string> {
    let decoder: InstanceType<typeof TextDecoder> | undefined;
    for await (const piece of this.read(name)) {
      decoder ??= new TextDecoder(charsetOfBom(piece) ?? 'utf-8');
      yield decoder.decode(piece, { stream: true });
    }
  }

  /** The whole of a file of at most `maxBytes`. */
  async readWhole(name: string, maxBytes: number): Promise<Buffer> {
    const pieces: Buffer[] = [];
    let bytes = 0;
    for await (const piece of this.read(name)) {
      bytes += piece.length;
      if (bytes > maxBytes) throw expandsTooFar();
      pieces.push(piece);
    }
    return Buffer.concat(pieces);
  }
}

const endSignature = Buffer.from('PK\x05\x06', 'latin1');
const endBytes = 22;

/** An archive whose comment was cut, or that something follows, is whole but for the length of what stands behind its end. */
function mendEnd(bytes: Buffer): Buffer {
  const end = bytes.lastIndexOf(endSignature);
  const rest = bytes.length - end - endBytes;
  if (end < 0 || rest < 0 || rest > 0xffff || bytes.readUInt16LE(end + endBytes - 2) === rest) return bytes;
  const mended = Buffer.from(bytes);
  mended.writeUInt16LE(rest, end + endBytes - 2);
  return mended;
}

/** The error of a document that is not what it should be, such as `a Word document`. */
export function damaged(kind: string, cause?: unknown): ServiceError {
  return new ServiceError(422, 'unreadable_document', `The document is damaged or is not ${kind}.`, { cause });
}

function expandsTooFar(): ServiceError {
  return new ServiceError(413, 'expands_too_far', 'The document holds more than may be unpacked.');
}
