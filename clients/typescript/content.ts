import { contentTypeOf, contentTypesByExtension } from './content-types.ts';
import type { Content } from './put.ts';
import type { ContentType } from './types.ts';

/** Bytes, or a function that opens a stream of them: it can be called again if the connection breaks, while a stream cannot be reread. */
export type UploadSource = Blob | Uint8Array | ArrayBuffer | ReadableStream<Uint8Array> | (() => ReadableStream<Uint8Array>);

const noFile = 'The file must be a Blob, bytes, a web stream, or a function that opens one.';

interface Source {
  file: UploadSource;
  size?: number | undefined;
}

/** The content of an upload, and whether it can be read again. Throws TypeError if it cannot be read. */
export function contentOf({ file, size }: Source): { content: Content; isRepeatable: boolean } {
  if (typeof file !== 'function' && (typeof file !== 'object' || file === null)) throw new TypeError(noFile);
  if (typeof file === 'function' || 'getReader' in file) {
    if (size === undefined) throw new TypeError('The upload of a stream needs its size.');
    const stream = typeof file === 'function' ? file : () => file;
    return { content: { sizeBytes: size, stream }, isRepeatable: typeof file === 'function' };
  }
  const blob = isBlob(file) ? file : new Blob([bytesOf(file)]);
  return { content: { sizeBytes: blob.size, stream: () => blob.stream() }, isRepeatable: true };
}

export function nameOf(file: UploadSource): string {
  const { name } = file as { name?: unknown };
  if (isBlob(file) && typeof name === 'string') return name;
  throw new TypeError('The upload needs a name.');
}

/** The type that a file names, if services take it, or else that of its name: browsers know none of Markdown, and another one of CSV. */
export function typeOf(file: UploadSource, name: string): ContentType {
  const [own = ''] = isBlob(file) ? file.type.split(';') : [];
  const isTaken = Object.values<string>(contentTypesByExtension).includes(own);
  const type = isTaken ? own : (contentTypeOf(name) ?? own);
  if (type === '') throw new TypeError('The upload needs a content type.');
  // The service checks which types it accepts.
  return type as ContentType;
}

/** Not by its class: other packages, and other windows, have a Blob of their own. */
function isBlob(file: UploadSource): file is Blob {
  return typeof file === 'object' && 'size' in file && 'stream' in file;
}

/** Makes sure that they are bytes: of anything else a Blob would be its description, `[object Object]`. */
function bytesOf(file: Uint8Array | ArrayBuffer): Uint8Array<ArrayBuffer> | ArrayBuffer {
  if (!('byteLength' in file)) throw new TypeError(noFile);
  return file as Uint8Array<ArrayBuffer> | ArrayBuffer;
}
