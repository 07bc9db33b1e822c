import { readRetryAfterMs } from '../../base/retry-after.ts';
import { AddressRefused } from './address-rule.ts';
import type { WebhookResult } from './port.ts';

type Judged = Omit<WebhookResult, 'at' | 'durationMs'>;

/** What a response means: any 2xx accepts, 410 ends everything, and the rest is tried again. */
export function judge(response: { status: number; body: string; retryAfter: string | undefined }): Judged {
  const { status, body } = response;
  const gone = status === 410;
  const retryAfterMs = readRetryAfterMs(response.retryAfter);
  return { status, body, error: describeStatus(status), final: gone, gone, ...(retryAfterMs === undefined ? {} : { retryAfterMs }) };
}

function describeStatus(status: number): string | null {
  if (status >= 200 && status < 300) return null;
  if (status >= 300 && status < 400) return `The receiver answered ${status}; redirects are not followed.`;
  return status === 410 ? 'The receiver answered 410: it is gone.' : `The receiver answered ${status}.`;
}

const reasons: Record<string, string> = {
  ENOTFOUND: 'The host could not be found.',
  ENODATA: 'The host has no address.',
  ESERVFAIL: 'The host could not be looked up.',
  ETIMEOUT: 'The host could not be looked up.',
  ECONNREFUSED: 'The connection was refused.',
  ECONNRESET: 'The connection was reset.',
  ETIMEDOUT: 'The host cannot be reached.',
  EHOSTUNREACH: 'The host cannot be reached.',
  ENETUNREACH: 'The host cannot be reached.',
  HPE_HEADER_OVERFLOW: 'The headers of the response are too large.',
};

/** What a request without a response means. Only the refusal of an address is final. `timeoutMs`: it took so long. */
export function describeFailure(error: unknown, timeoutMs?: number): Judged {
  const refused = causes(error).find((cause) => cause instanceof AddressRefused);
  const message =
    refused?.message ?? (timeoutMs === undefined ? reasonOf(error) : `There was no response within ${timeoutMs / 1_000} seconds.`);
  return { status: null, body: null, error: message, final: refused !== undefined, gone: false };
}

/** The system's own words would name an address. */
function reasonOf(error: unknown): string {
  const codes = causes(error).flatMap((cause) => ('code' in cause && typeof cause.code === 'string' ? [cause.code] : []));
  const known = codes.map((code) => reasons[code]).find((reason) => reason !== undefined);
  return known ?? `The request failed${codes[0] === undefined ? '' : ` (${codes[0]})`}.`;
}

/** An error, its causes and its parts: connections to several addresses fail together. */
function causes(error: unknown): Error[] {
  if (!(error instanceof Error)) return [];
  const parts = error instanceof AggregateError ? error.errors : [];
  return [error, ...[error.cause, ...parts].flatMap(causes)];
}
