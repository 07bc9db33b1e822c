import { ApiError } from '../contract/api-error.ts';

const maxKeyLength = 200;

/** Throws BAD_REQUEST for an `Idempotency-Key` that is empty or longer than 200 characters (decisions, Smaller rules). */
export function checkIdempotencyKey(key: string | undefined): void {
  if (key === undefined || (key.length > 0 && key.length <= maxKeyLength)) return;
  const message = `must have 1 to ${maxKeyLength} characters`;
  throw new ApiError('BAD_REQUEST', { message: `Idempotency-Key: ${message}`, data: { issues: [{ path: ['Idempotency-Key'], message }] } });
}
