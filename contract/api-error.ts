import { type DataOf, type ErrorCode, type ErrorData, errorCodes } from './errors.ts';

type Details<C extends ErrorCode> = { message?: string; retryAfterSeconds?: number; cause?: unknown } & (C extends keyof ErrorData
  ? DataOf<ErrorData[C]>
  : { data?: undefined });

/** An error for the caller, with one of the codes of errors.ts. It may be thrown anywhere; each transport renders it. */
export class ApiError<C extends ErrorCode = ErrorCode> extends Error {
  readonly code: C;
  readonly status: number;
  readonly data: unknown;
  readonly retryAfterSeconds: number | undefined;

  constructor(code: C, ...[details]: object extends Details<C> ? [Details<C>?] : [Details<C>]) {
    super(details?.message ?? errorCodes[code].message, { cause: details?.cause });
    this.name = 'ApiError';
    this.code = code;
    this.status = errorCodes[code].status;
    this.data = details?.data;
    this.retryAfterSeconds = details?.retryAfterSeconds;
  }

  /** The same error with another message. */
  withMessage(message: string): ApiError<C> {
    const { data, retryAfterSeconds, cause } = this;
    const same = new ApiError<ErrorCode>(this.code, { message, data, retryAfterSeconds, cause } as never);
    return same as ApiError<C>;
  }
}
