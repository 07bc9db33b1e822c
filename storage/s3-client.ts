import { S3Client, S3ServiceException } from '@aws-sdk/client-s3';
import { StorageUnavailable } from './port.ts';

/** Request timeout, conflict with another request, too many requests: the same request may succeed later. */
const passingStatuses = new Set([408, 409, 429]);
const passingCodes = new Set(['RequestTimeout', 'SlowDown']);

export interface S3ClientOptions {
  region: string;
  /** Whether the bucket is in the path of a URL instead of its host. */
  pathStyle: boolean;
  /** Undefined for those that the SDK finds by itself: in the environment, of the container or of the machine. */
  credentials?: { accessKeyId: string; secretAccessKey: string } | undefined;
}

/** How a client of a server asks it. */
export interface S3ClientBounds {
  /** How long it may take until there is a connection. */
  connectMs: number;
  /** After how long a connection on which nothing happens is closed, also if that is because nobody reads what has come; 0 for never. */
  idleMs: number;
  /** How often a request is sent at most, if it may succeed later; once by default. */
  attempts?: number;
}

/** A client of the server at an address, or of Amazon's. */
export function createS3Client(
  { region, pathStyle, credentials }: S3ClientOptions,
  endpoint: string | undefined,
  { connectMs, idleMs, attempts = 1 }: S3ClientBounds,
): S3Client {
  return new S3Client({
    region,
    forcePathStyle: pathStyle,
    ...(endpoint === undefined ? {} : { endpoint }),
    ...(credentials ? { credentials } : {}),
    maxAttempts: attempts,
    // Not every server knows the checksums that are the default. The signature has a hash of what is sent.
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
    requestHandler: { connectionTimeout: connectMs, socketTimeout: idleMs },
  });
}

/** Bounds what is asked of a server: after `timeoutMs` the request is aborted. Throws StorageUnavailable for what may succeed later. */
export async function askInTime<T>(timeoutMs: number, ask: (options: { abortSignal: AbortSignal }) => Promise<T>): Promise<T> {
  const late = Promise.withResolvers<never>();
  const abort = new AbortController();
  // Not by the signal alone: credentials that are looked for do not hear it.
  const timer = setTimeout(() => {
    late.reject(new StorageUnavailable('no response in time'));
    abort.abort();
  }, timeoutMs);
  try {
    return await Promise.race([ask({ abortSignal: abort.signal }), late.promise]);
  } catch (error) {
    throw availabilityOf(error);
  } finally {
    clearTimeout(timer);
  }
}

/** The error itself if the server has refused for good; StorageUnavailable if it may do it later, or could not be asked. */
export function availabilityOf(error: unknown): unknown {
  return isRefusal(error) || error instanceof TypeError || error instanceof StorageUnavailable ? error : new StorageUnavailable(error);
}

function isRefusal(error: unknown): boolean {
  const status = statusOf(error);
  if (status === undefined || status >= 500 || passingStatuses.has(status)) return false;
  return !passingCodes.has((error as S3ServiceException).name);
}

/** The HTTP status of a server's response; undefined for any other error. */
export function statusOf(error: unknown): number | undefined {
  return error instanceof S3ServiceException ? error.$metadata.httpStatusCode : undefined;
}

/** Whether the server has said that there is no such object, which is not said of a bucket that is absent. */
export function isAbsent(error: unknown): boolean {
  return error instanceof S3ServiceException && error.name === 'NoSuchKey';
}

/** Whether a request was sent more than once. What the last response says may then be of what the ones before have done. */
export function wasRepeated(error: unknown): boolean {
  return error instanceof S3ServiceException && (error.$metadata.attempts ?? 1) > 1;
}
