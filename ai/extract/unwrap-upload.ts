import { ServiceError } from '../service-error.ts';
import { parseMediaType } from './media-type.ts';
import type { SourceDocument } from './types.ts';

const base64 = /^[A-Za-z0-9+/\s]*={0,2}\s*$/;
const looksWrapped = /^\s*\{\s*"file"\s*:[\s\S]{0,2000}"data_base64"/;

/**
 * Tells what was sent to `/v1/extract`: the document's bytes, or JSON `{ file: { name, content_type, data_base64 } }` around
 * them. `application/json` without `file.data_base64` is itself the document. Throws ServiceError 400, 413, 415 or 422.
 */
export function unwrapUpload(body: Uint8Array, contentType: string | undefined, maxUploadBytes: number): SourceDocument {
  const { mediaType, charset } = parseMediaType(contentType);
  const file = mediaType === 'application/json' ? wrappedFile(body) : undefined;
  if (!file) return { bytes: withinLimit(body, maxUploadBytes), mediaType, charset };
  if (typeof file.data_base64 !== 'string') throw invalid('file.data_base64 must be a string.');
  if (typeof file.content_type !== 'string') throw invalid('file.content_type must be the media type of the document.');
  if (file.name !== undefined && typeof file.name !== 'string') throw invalid('file.name must be a string.');
  if (!base64.test(file.data_base64)) throw new ServiceError(400, 'invalid_base64', 'file.data_base64 is not valid base64.');
  const bytes = Buffer.from(file.data_base64, 'base64');
  return { bytes: withinLimit(bytes, maxUploadBytes), ...parseMediaType(file.content_type) };
}

/** The longest body that can hold `maxUploadBytes` in base64, with room for line ends and the fields around. */
export function maxWrappedBytes(maxUploadBytes: number): number {
  return Math.ceil(maxUploadBytes / 3) * 4 + Math.ceil(maxUploadBytes / 24) + 64 * 1024;
}

function wrappedFile(body: Uint8Array): { name?: unknown; content_type?: unknown; data_base64?: unknown } | undefined {
  const text = new TextDecoder().decode(body);
  try {
    const parsed: unknown = JSON.parse(text);
    const file = isObject(parsed) ? parsed.file : undefined;
    return isObject(file) && 'data_base64' in file ? file : undefined;
  } catch {
    // A JSON document that is not valid is still text to read; an upload cut off in the middle is not.
    if (looksWrapped.test(text.slice(0, 4096))) throw new ServiceError(400, 'malformed_json', 'The body is not valid JSON.');
    return undefined;
  }
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}

function withinLimit(bytes: Uint8Array, maxUploadBytes: number): Uint8Array {
  if (bytes.length <= maxUploadBytes) return bytes;
  throw new ServiceError(413, 'too_large', `The document is larger than the ${maxUploadBytes} bytes that this service accepts.`);
}

function invalid(message: string): ServiceError {
  return new ServiceError(422, 'invalid_request', message);
}
