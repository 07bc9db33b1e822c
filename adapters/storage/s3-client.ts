import { S3Client, type S3ClientConfig, S3ServiceException } from '@aws-sdk/client-s3';
import { StorageUnavailable } from './port.ts';

/** Request timeout, conflict with another request, too many requests: the same request may succeed later. */
const passingStatuses = new Set([408, 409, 429]);
const passingCodes = new Set(['RequestTimeout', 'SlowDown']);

export interface S3ClientOptions {
  /** Undefined for the region that the SDK finds itself. */
  region?: string | undefined;
  /** Undefined for credentials that the SDK finds itself, in the environment, the container or the machine. */
  credentials?: { accessKeyId: string; secretAccessKey: string } | undefined;
  /** Whether the bucket stands in the path of a URL, which every server understands; by default if there is an endpoint. */
  pathStyle?: boolean;
}

/** The time limits and retries of a client. */
interface S3ClientBounds {
  /** The time limit for a connection. */
  connectMs: number;
  /** The time after which an idle connection is closed, even if it is idle because nobody reads its data; 0 for never. */
  idleMs: number;
  /** The maximum attempts of a request that may succeed later; one by default. */
  attempts?: number;
  /** In place of `attempts`: says for each failure whether and when the request is sent again. */
  retryStrategy?: S3ClientConfig['retryStrategy'];
}

/** Creates a client of a server, or of Amazon's. */
export function createS3Client(
  { region, credentials, pathStyle }: S3ClientOptions,
  endpoint: string | undefined,
  { connectMs, idleMs, attempts = 1, retryStrategy }: S3ClientBounds,
): S3Client {
  return new S3Client({
    ...(region === undefined ? {} : { region }),
    // Only Amazon wants the bucket in the host of a URL.
    forcePathStyle: pathStyle ?? endpoint !== undefined,
    ...(endpoint === undefined ? {} : { endpoint }),
    ...(credentials ? { credentials } : {}),
    maxAttempts: attempts,
    ...(retryStrategy ? { retryStrategy } : {}),
    // Not every server supports the default checksums. The signature includes a hash of the content.
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
    requestHandler: { connectionTimeout: connectMs, socketTimeout: idleMs },
  });
}

/** Aborts a request after `timeoutMs`. Throws StorageUnavailable if a later attempt may succeed. */
export async function askInTime<T>(timeoutMs: number, ask: (options: { abortSignal: AbortSignal }) => Promise<T>): Promise<T> {
  const late = Promise.withResolvers<never>();
  const abort = new AbortController();
  // The signal alone is not enough, since the look-up of credentials ignores it.
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

/** The error itself if the server refused for good; StorageUnavailable if a later attempt may succeed. */
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

/** Whether the server says that there is no such object, which differs from a missing bucket. */
export function isAbsent(error: unknown): boolean {
  return error instanceof S3ServiceException && error.name === 'NoSuchKey';
}

/** Whether a request was sent more than once. The last response may then be the effect of an earlier request. */
export function wasRepeated(error: unknown): boolean {
  return error instanceof S3ServiceException && (error.$metadata.attempts ?? 1) > 1;
}
